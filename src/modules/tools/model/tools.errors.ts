import { NotFoundError } from '../../../common/errors/domain.error.js';

/** The system lists no such tool. */
export class ToolNotFoundError extends NotFoundError {
  readonly code = 'TOOL_NOT_FOUND';
  constructor() {
    super('Tool not found.');
  }
}
