import {
  ConflictError,
  ForbiddenError,
  InvalidRequestError,
  NotFoundError,
} from '../../../platform/errors/domain.error.js';

/** The system has no such tool. */
export class ToolNotFoundError extends NotFoundError {
  readonly code = 'TOOL_NOT_FOUND';
  constructor() {
    super('Tool not found.');
  }
}

/** Calls by hand are disabled in this deployment. */
export class ToolCallsOffError extends ForbiddenError {
  readonly code = 'TOOL_CALLS_OFF';
  constructor() {
    super('Tools cannot be called by hand here: TOOL_CALLS is off.');
  }
}

/** A disabled tool cannot be called. */
export class ToolDisabledError extends ConflictError {
  readonly code = 'TOOL_DISABLED';
  constructor() {
    super('The tool is disabled and cannot be called.');
  }
}

/** The arguments do not match the input schema of the tool. */
export class ArgumentsInvalidError extends InvalidRequestError {
  readonly code = 'TOOL_ARGUMENTS_INVALID';
  constructor(problem: string) {
    super('The arguments do not fit the tool.', problem);
  }
}
