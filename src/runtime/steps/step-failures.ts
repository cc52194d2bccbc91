import type { EngineIncident, EngineRefusal, EngineCommand } from '#engine/tokens';
import { elementOf, type RunnableDefinition } from '../definitions/runnable-definitions.service.js';
import type { LoadedInstance } from './step.types.js';
import { InvalidDataError } from '#engine/paths';
import type { DomainError } from '../../platform/errors/domain.error.js';
import {
  ProcessDataTooLargeError,
  ProcessStateError,
  UiActionNotFoundError,
  ProcessDataMissingError,
  ProcessIncidentError,
} from '../model/process-runtime.errors.js';
import { ExpressionError } from '#engine/expressions';
import type { StopReport } from '../model/stopped.response.dto.js';

/** The engine stopped a step, which was rolled back. */
export class FailedStepError extends Error {
  override readonly name = 'FailedStepError';
  /** Token and visit that stopped; null when the incident concerns the whole instance. */
  readonly tokenId: number | null;
  readonly visit: number | null;

  constructor(
    readonly incident: EngineIncident,
    readonly before: LoadedInstance,
    command: EngineCommand,
  ) {
    super(incident.message, { cause: incident });
    const { tokens } = before.state;
    // The stopped token may be one that the step itself created.
    const asked = 'tokenId' in command ? command.tokenId : null;
    const token = tokens.get(asked ?? -1) ?? tokens.get(incident.tokenId ?? -1);
    this.tokenId = token?.id ?? null;
    this.visit = token?.visit ?? null;
  }
}

const MESSAGES = {
  INSTANCE_STARTED: 'The process instance has already been started.',
  INSTANCE_NOT_STARTED: 'The process instance is not running.',
  TOKEN_NOT_ACTIVE: 'The token is not active.',
  ACTION_NOT_AVAILABLE: 'The UI action is not available where the token stands.',
  ACTION_ALREADY_DONE: 'The UI action was executed already and cannot be repeated.',
  BACK_NOT_ASKED: 'The UI action would take the token back. Send the header svc-back: true to go back.',
  NOTHING_TO_GO_BACK: 'The token stands at the node of the UI action: there is nothing to go back to.',
  NOTHING_TO_RETRY: 'There is nothing to retry: execute the UI action again.',
  STALE: 'The token has moved on.',
} as const;

/** Maps a refusal of the engine to the error of the caller (docs/contract.md, section 4.2). */
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

/** Returns the report of a stopped step for its caller, with the message of the incident. */
export function toStopReport(
  { node, type, message }: EngineIncident,
  processInstanceUuid: string,
  definition: RunnableDefinition,
  incidentUuid: string | null,
): StopReport {
  const bpmnElementId = elementOf(definition, node) ?? null;
  return { uuid: incidentUuid, processInstanceUuid, code: type, bpmnElementId, message };
}

/** Whether the step stopped because an expression reads missing data. */
export function isOfMissingData({ cause }: EngineIncident): boolean {
  return cause instanceof ExpressionError && cause.reason === 'missing';
}

/** Returns 400 if the caller can fix it by sending more data, else 409. */
export function stopError(report: StopReport, isMissing: boolean): DomainError {
  return isMissing ? new ProcessDataMissingError(report) : new ProcessIncidentError(report);
}
