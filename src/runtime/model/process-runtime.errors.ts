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

/** The instance has no such token; it may be one of another instance. */
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

/** No start event can be taken (docs/contract.md, section 4.1). */
export class StartNodeNotFoundError extends InvalidRequestError {
  readonly code = 'START_NODE_NOT_FOUND';
  constructor() {
    super('Start node for process definition not found.');
  }
}

/** Several start events could be taken (docs/contract.md, section 4.1). */
export class StartConditionMissingError extends InvalidRequestError {
  readonly code = 'START_CONDITION_MISSING';
  constructor() {
    super('Multiple start nodes found, but start condition not specified.');
  }
}

/** Required fields of the start body are absent (docs/contract.md, section 4.1). */
export class MandatoryParamsMissingError extends InvalidRequestError {
  readonly code = 'MANDATORY_PARAMS_MISSING';
  /** @param names their paths in the body */
  constructor(names: readonly string[]) {
    super('Some mandatory params are missing.', names.join(', '));
  }
}

/** Process data would exceed `bytes` or `values`. */
export class ProcessDataTooLargeError extends InvalidRequestError {
  readonly code = 'PROCESS_DATA_TOO_LARGE';
  /** @param details names the limit */
  constructor(details: string) {
    super('The process data would become too large.', details);
  }
}

/** The caller has none of the permissions that the lane names (docs/process-semantics.md, section 12). */
export class LanePermissionError extends ForbiddenError {
  readonly code = 'LANE_PERMISSION';
  constructor() {
    super('Insufficient permissions to act in this lane of the process');
  }
}

/** 429: too many connections follow instances, of this caller or of all in this replica. */
export class TooManyProgressStreamsError extends TooManyRequestsError {
  readonly code = 'TOO_MANY_PROGRESS_STREAMS';
  readonly retryAfterSeconds = 10;
  readonly limit: string;
  constructor({ name, most }: Limit) {
    super('Too many connections follow process instances.', `${name} is ${most}.`);
    this.limit = name;
  }
}

/** What is stored stands against an operation on a process instance. */
export class ProcessStateError extends ConflictError {
  /** @param code upper snake case, for logs and tests */
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** A step that a caller asked for failed by a fault of the definition or its data, and an incident was recorded. */
export class ProcessIncidentError extends ConflictError {
  readonly code = 'PROCESS_INCIDENT';
  override readonly extension: { incident: StopReport };
  constructor(incident: StopReport) {
    super(sentenceOf(incident), placeOf(incident));
    this.extension = { incident };
  }
}

/** As `ProcessIncidentError`, because an expression reads data that is not there: the caller can send it. */
export class ProcessDataMissingError extends InvalidRequestError {
  readonly code = 'PROCESS_DATA_MISSING';
  override readonly extension: { incident: StopReport };
  constructor(incident: StopReport) {
    super(sentenceOf(incident), placeOf(incident));
    this.extension = { incident };
  }
}

function sentenceOf({ message }: StopReport): string {
  return `The process stopped with an incident: ${message}`;
}

function placeOf({ uuid, processInstanceUuid, code, bpmnElementId }: StopReport): string {
  return `process instance ${processInstanceUuid}, incident ${uuid ?? 'not kept'}, ${code} at ${bpmnElementId ?? 'the process'}`;
}

/** The definition of an instance must be read before its transaction goes on. Never leaves the module. */
export class DefinitionNotHeldError extends InternalError {
  readonly code = 'DEFINITION_NOT_HELD';
  constructor(readonly definitionId: number) {
    super('The definition is not in memory.');
  }
}

/** A process instance has as many open incidents as it may (`incidents`): what failed is tried again later. */
export class TooManyIncidentsError extends InternalError {
  readonly code = 'TOO_MANY_INCIDENTS';
  constructor(limit: number) {
    super(`The process instance has ${limit} open incidents.`);
  }
}
