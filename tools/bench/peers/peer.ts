import type { Contender } from '../processes/contenders.js';

/** Numbers of concurrent callers with which peers are measured. */
export const CALLERS = [1, 16, 64] as const;
/** Maximum number of connections of a load generator. */
export const MANY = 64;

/** Another engine that is compared with the service. */
export interface Peer {
  contender: Contender;
  /** Number of requests that were answered 429 and retried so far. */
  refusals(): number;
  stop(): Promise<void>;
}
