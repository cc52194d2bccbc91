import type { IncidentSource, IncidentType } from './engine.types.js';

/** Reason why a command was refused although nothing failed. */
export type RefusalCode =
  /** The instance has already been started. */
  | 'INSTANCE_STARTED'
  /** The instance has not been started, is on hold or has ended. */
  | 'INSTANCE_NOT_STARTED'
  /** The process has no such action (404). */
  | 'ACTION_UNKNOWN'
  /** The token has ended, is on hold or waits at a join. */
  | 'TOKEN_NOT_ACTIVE'
  /** The action is not available at the token's node, and the token cannot go back to it. */
  | 'ACTION_NOT_AVAILABLE'
  /** The action is not repeatable and was executed in this visit. */
  | 'ACTION_ALREADY_DONE'
  /** The action would go back, which its author allows only on explicit request. */
  | 'BACK_NOT_ASKED'
  /** The caller wants to go back to the token's current node. */
  | 'NOTHING_TO_GO_BACK'
  /** Process data would exceed its limit (400). */
  | 'DATA_TOO_LARGE'
  /** The body has a prototype key or too many levels (400). */
  | 'DATA_INVALID'
  | 'NOTHING_TO_RETRY'
  /** The token or instance of a background job has moved on or ended: drop the job. */
  | 'STALE';

/**
 * Reports a refused command that changed nothing. The service maps it to an answer (docs/contract.md, section 4.2). Only DATA_TOO_LARGE
 * and DATA_INVALID need a message; the service words the other codes.
 */
export class EngineRefusal extends Error {
  override readonly name = 'EngineRefusal';
  constructor(
    readonly code: RefusalCode,
    message: string = code,
  ) {
    super(message);
  }
}

/** Place of an incident; absent parts are unknown. */
export interface IncidentPlace {
  readonly node?: number;
  readonly tokenId?: number;
  readonly actionSvcUuid?: string;
}

/**
 * Reports a step that failed because of the definition or its data. Roll back, then record it (docs/process-semantics.md, section 11).
 * The token stays on its node.
 */
export class EngineIncident extends Error {
  override readonly name = 'EngineIncident';
  /** Graph index. */
  readonly node: number | null;
  readonly tokenId: number | null;
  readonly actionSvcUuid: string | null;
  constructor(
    readonly source: IncidentSource,
    readonly type: IncidentType,
    message: string,
    place: IncidentPlace = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.node = place.node ?? null;
    this.tokenId = place.tokenId ?? null;
    this.actionSvcUuid = place.actionSvcUuid ?? null;
  }
}
