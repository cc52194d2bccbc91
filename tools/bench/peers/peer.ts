import type { Contender } from '../processes/contenders.js';

/** Numbers of callers that peers are measured with. */
export const CALLERS = [1, 16, 64] as const;
/** Connections of a load generator. */
export const MANY = 64;

/** Another engine that runs beside the service. */
export interface Peer {
  contender: Contender;
  /** Requests that were answered 429 and repeated, so far. */
  refusals(): number;
  stop(): Promise<void>;
}
