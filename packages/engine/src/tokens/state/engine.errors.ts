import type { IncidentSource, IncidentType } from './engine.types.js';

/** Why a command was not carried out although nothing is broken. */
export type RefusalCode =
  /** The instance has been started already. */
  | 'INSTANCE_STARTED'
  /** The instance has not been started, is on hold or has ended. */
  | 'INSTANCE_NOT_STARTED'
  /** No action of this process (404). */
  | 'ACTION_UNKNOWN'
  /** The token has ended, is on hold or waits at a join. */
  | 'TOKEN_NOT_ACTIVE'
  /** Not open where the token stands, and nothing that it could go back to. */
  | 'ACTION_NOT_AVAILABLE'
  /** Not repeatable and done in this visit. */
  | 'ACTION_ALREADY_DONE'
  /** The action would lead back, which its author allows only where the caller says so. */
  | 'BACK_NOT_ASKED'
  /** The caller wants to go back to the node where the token stands. */
  | 'NOTHING_TO_GO_BACK'
  /** Process data would exceed its limit (400). */
  | 'DATA_TOO_LARGE'
  /** The body must not become process data: a prototype key, or too many levels (400). */
  | 'DATA_INVALID'
  | 'NOTHING_TO_RETRY'
  /** The background asks for a token or an instance that has moved on or ended: drop the job. */
  | 'STALE';

/** A command is refused and nothing has changed; the service knows what to tell (docs/contract.md, section 4.2). */
export class EngineRefusal extends Error {
  override readonly name = 'EngineRefusal';
  constructor(
    readonly code: RefusalCode,
    message: string,
  ) {
    super(message);
  }
}

/** Where an incident happened; absent parts are unknown. */
export interface IncidentPlace {
  readonly node?: number;
  readonly tokenId?: number;
  readonly actionSvcUuid?: string;
}

/**
 * A step failed by a fault of the definition or its data: roll back, then record it (docs/process-semantics.md, section 11). The
 * token stays where it was.
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
