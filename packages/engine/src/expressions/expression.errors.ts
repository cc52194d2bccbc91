import { InternalError, InvalidRequestError } from '../errors/domain.error.js';

/** 400: invalid expression or template; the message says where and why. */
export class ExpressionSyntaxError extends InvalidRequestError {
  readonly code = 'EXPRESSION_INVALID';
}

/** Why an evaluation failed: missing data, a limit, or anything else (types, division by zero). */
export type ExpressionFailure = 'missing' | 'limit' | 'failed';

/** Reports a failed evaluation. The definition or its data is at fault; a failed condition is never "false". */
export class ExpressionError extends InternalError {
  readonly code = 'EXPRESSION_FAILED';
  constructor(
    message: string,
    readonly reason: ExpressionFailure,
    readonly source?: string,
  ) {
    super(message);
  }
}
