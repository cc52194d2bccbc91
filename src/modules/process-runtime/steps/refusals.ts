import { InvalidDataError } from '../../../language/paths/data-paths.js';
import type { DomainError } from '../../../common/errors/domain.error.js';
import type { EngineRefusal } from '../engine/state/engine.errors.js';
import {
  ProcessDataTooLargeError,
  ProcessStateError,
  UiActionNotFoundError,
} from '../model/process-runtime.errors.js';

const MESSAGES = {
  INSTANCE_STARTED: 'The process instance has been started already.',
  INSTANCE_NOT_STARTED: 'The process instance is not running.',
  TOKEN_NOT_ACTIVE: 'The token is not active.',
  ACTION_NOT_AVAILABLE: 'The UI action is not available where the token stands.',
  ACTION_ALREADY_DONE: 'The UI action was executed already and cannot be repeated.',
  BACK_NOT_ASKED: 'The UI action would take the token back. Send the header svc-back: true to go back.',
  NOTHING_TO_GO_BACK: 'The token stands at the node of the UI action: there is nothing to go back to.',
  NOTHING_TO_RETRY: 'There is nothing to retry: execute the UI action again.',
  STALE: 'The token has moved on.',
} as const;

/** What a caller is told when the engine refuses (docs/contract.md, section 4.2). */
export function toDomainError({ code, message }: EngineRefusal): DomainError {
  switch (code) {
    case 'ACTION_UNKNOWN':
      return new UiActionNotFoundError();
    case 'DATA_TOO_LARGE':
      return new ProcessDataTooLargeError(message);
    case 'DATA_INVALID':
      return new InvalidDataError(message);
    default:
      return new ProcessStateError(code, MESSAGES[code]);
  }
}
