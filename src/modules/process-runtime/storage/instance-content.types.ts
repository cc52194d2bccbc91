import type { JsonObject } from '../../../common/json.js';
import type { ExecutedCall, InstanceState, JoinState, ReturnPoint } from '../engine/state/engine.types.js';

/** A background job that waits until an instance is released, or for a retry of its incident. */
export interface ParkedJob {
  kind: string;
  /** Its owner, which may be another one: a called process has work for its caller. */
  instanceId: number | null;
  tokenId: number | null;
  payload: JsonObject;
}

/** That a person corrected process data. */
export interface DataCorrection {
  /** Names of the members that changed. */
  members: string[];
  /** User name. */
  by: string;
  /** ISO 8601. */
  at: string;
}

/** What of an instance is one text of JSON. */
export interface InstanceContent {
  data: JsonObject;
  joins: JoinState[];
  returnPoints: ReturnPoint[];
  executions: ExecutedCall[];
  pending: InstanceState['pending'];
  continues: number;
  backCounter: number;
  parked: ParkedJob[];
  /** The last ones, oldest first; absent where there was none. */
  corrections?: DataCorrection[];
}
