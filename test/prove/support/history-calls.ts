import type { LoopsStart, LoopTask } from './loops-model.js';
import type { Place, Reply } from './process-client.js';

/** When something was sent and answered, in milliseconds of one monotonic clock; `Infinity` without an answer. */
export interface Span {
  sent: number;
  answered: number;
}

/** A call: acknowledged or refused, as `reply` says; without a reply nobody knows what came of it. */
export interface Call extends Span {
  reply: Reply | undefined;
}

/** A UI action that a caller wants executed once, with every call that was made for it. */
export interface Operation {
  /** Distinguishes it from all others; what it stores. */
  value: string;
  /** UUID of the token. */
  token: string;
  task: LoopTask;
  /** Idempotency-Key; calls with it may be repeated. */
  key: string | undefined;
  /** Which of the callers it belongs to. */
  caller: 'client' | 'other';
  /** What every call must be refused with, because it is wrong as it stands. */
  wrong: { status: number; message: string } | undefined;
  calls: Call[];
}

/** What a caller was shown of an instance. */
export interface Reading extends Span {
  state: string;
  log: string[];
  /** By UUID. */
  tokens: Map<string, { state: string; node: string }>;
  visits: Map<string, number>;
}

/** A start that a caller wants once, and everything that was done to what it has started. */
export interface Course {
  start: LoopsStart;
  key: string | undefined;
  caller: 'client' | 'other';
  calls: Call[];
  /** Undefined until the start was acknowledged. */
  place: Place | undefined;
  operations: Operation[];
  readings: Reading[];
}

/** Whether a call has changed nothing: refused, or told that nothing is stored (docs/contract.md, section 4.3). */
export function isRefused({ reply }: Call): boolean {
  return reply !== undefined && reply.status !== 200;
}

export function isAcknowledged({ reply }: Call): boolean {
  return reply?.status === 200;
}
