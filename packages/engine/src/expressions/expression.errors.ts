import { InternalError, InvalidRequestError } from '../errors/domain.error.js';

/** 400: an expression or template that cannot be used; the message says where and why. */
export class ExpressionSyntaxError extends InvalidRequestError {
  readonly code = 'EXPRESSION_INVALID';
}

/** Why an evaluation failed: data that is not there, a limit, or anything else (types, a division by zero). */
export type ExpressionFailure = 'missing' | 'limit' | 'failed';

/** An evaluation failed. It is a fault of the definition or its data, so an exception record and never "false". */
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
