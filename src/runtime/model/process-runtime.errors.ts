import {
  ConflictError,
  ForbiddenError,
  InternalError,
  InvalidRequestError,
  NotFoundError,
  TooManyRequestsError,
} from '../../platform/errors/domain.error.js';
import type { Limit } from '../../platform/config/env.js';
import type { StopReport } from './stopped.response.dto.js';

export class ProcessInstanceNotFoundError extends NotFoundError {
  readonly code = 'PROCESS_INSTANCE_NOT_FOUND';
  constructor() {
    super('Process instance not found.');
  }
}

/** The token does not exist or belongs to another instance. */
export class ProcessTokenNotFoundError extends NotFoundError {
  readonly code = 'PROCESS_TOKEN_NOT_FOUND';
  constructor() {
    super('Token not found for this process instance.');
  }
}

export class UiActionNotFoundError extends NotFoundError {
  readonly code = 'UI_ACTION_NOT_FOUND';
  constructor() {
    super('UI action not found for this process.');
  }
}

/** No start event matches (docs/contract.md, section 4.1). */
export class StartNodeNotFoundError extends InvalidRequestError {
  readonly code = 'START_NODE_NOT_FOUND';
  constructor() {
    super('Start node for process definition not found.');
  }
}

/** Several start events match (docs/contract.md, section 4.1). */
export class StartConditionMissingError extends InvalidRequestError {
  readonly code = 'START_CONDITION_MISSING';
  constructor() {
    super('Multiple start nodes found, but start condition not specified.');
  }
}

/** The start body lacks required fields (docs/contract.md, section 4.1). */
export class MandatoryParamsMissingError extends InvalidRequestError {
  readonly code = 'MANDATORY_PARAMS_MISSING';
  /** @param names paths of the fields in the body */
  constructor(names: readonly string[]) {
    super('Some mandatory params are missing.', names.join(', '));
  }
}

/** The process data would exceed the limit `bytes` or `values`. */
export class ProcessDataTooLargeError extends InvalidRequestError {
  readonly code = 'PROCESS_DATA_TOO_LARGE';
  /** @param details names the limit */
  constructor(details: string) {
    super('The process data would become too large.', details);
  }
}

/** The caller has none of the permissions of the lane (docs/process-semantics.md, section 12). */
export class LanePermissionError extends ForbiddenError {
  readonly code = 'LANE_PERMISSION';
  constructor() {
    super('Insufficient permissions to act in this lane of the process');
  }
}

/** 429: the caller, or this replica as a whole, has too many progress streams open. */
export class TooManyProgressStreamsError extends TooManyRequestsError {
  readonly code = 'TOO_MANY_PROGRESS_STREAMS';
  readonly retryAfterSeconds = 10;
  readonly limit: string;
  constructor({ name, max }: Limit) {
    super('Too many connections follow process instances.', `${name} is ${max}.`);
    this.limit = name;
  }
}

/** The stored state of a process instance does not allow an operation. */
export class ProcessStateError extends ConflictError {
  /** @param code in upper snake case */
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** A requested step failed because of the definition or the data, and an incident was recorded. */
export class ProcessIncidentError extends ConflictError {
  readonly code = 'PROCESS_INCIDENT';
  override readonly extension: { incident: StopReport };
  constructor(incident: StopReport) {
    super(messageOf(incident), detailsOf(incident));
    this.extension = { incident };
  }
}

/** Variant of `ProcessIncidentError` for missing data that the caller can send. */
export class ProcessDataMissingError extends InvalidRequestError {
  readonly code = 'PROCESS_DATA_MISSING';
  override readonly extension: { incident: StopReport };
  constructor(incident: StopReport) {
    super(messageOf(incident), detailsOf(incident));
    this.extension = { incident };
  }
}

function messageOf({ message }: StopReport): string {
  return `The process stopped with an incident: ${message}`;
}

function detailsOf({ uuid, processInstanceUuid, code, bpmnElementId }: StopReport): string {
  return `process instance ${processInstanceUuid}, incident ${uuid ?? 'not kept'}, ${code} at ${bpmnElementId ?? 'the process'}`;
}

/** The definition of an instance must be loaded before its transaction can continue. Never leaves the module. */
export class DefinitionNotCachedError extends InternalError {
  readonly code = 'DEFINITION_NOT_CACHED';
  constructor(readonly definitionId: number) {
    super('The definition is not in memory.');
  }
}

/** A process instance has reached its limit of open incidents (`incidents`), so the failed work is retried later. */
export class TooManyIncidentsError extends InternalError {
  readonly code = 'TOO_MANY_INCIDENTS';
  constructor(limit: number) {
    super(`The process instance has ${limit} open incidents.`);
  }
}
