/** Start parameters of the probe thread. */
export interface ProbeThreadSettings {
  readonly host: string;
  readonly port: number;
  /** Milliseconds without a heartbeat after which the main thread counts as dead. */
  readonly maxStallMs: number;
  /** Time of the last heartbeat of the main thread, in nanoseconds of `process.hrtime`. */
  readonly pulse: BigInt64Array;
}

/** What the probe thread requests from the main thread. */
export type ProbeQuestion = 'readiness' | 'metrics';

/** Message from the probe thread: a question, or the outcome of listening with its `threadId`. */
export type ProbeThreadMessage =
  { ask: ProbeQuestion } | { listening: true; thread: number | undefined } | { failed: string };

/** Whether this replica is ready, and how other replicas differ from it. */
export interface Readiness {
  readiness: boolean;
  differs?: readonly string[];
}

/** Answer of the main thread: the readiness, the metrics in the Prometheus text format, or a question it could not answer. */
export type ProbeAnswer = Readiness | { metrics: string } | { unknown: ProbeQuestion };

/** Interval of the heartbeats of the main thread. */
const BEAT_MS = 50;
const NANOSECONDS_PER_MILLISECOND = 1_000_000n;

/** Allocates memory for heartbeats that threads can share. */
export function newPulse(): BigInt64Array {
  return new BigInt64Array(new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT));
}

/** Writes heartbeats while the event loop of this thread runs. @returns a function that stops them */
export function startHeartbeat(pulse: BigInt64Array): () => void {
  const beat = (): void => void Atomics.store(pulse, 0, process.hrtime.bigint());
  beat();
  const timer = setInterval(beat, BEAT_MS).unref();
  return () => clearInterval(timer);
}

/** Returns the milliseconds since the last heartbeat. */
export function silenceMs(pulse: BigInt64Array): number {
  return Number((process.hrtime.bigint() - Atomics.load(pulse, 0)) / NANOSECONDS_PER_MILLISECOND);
}
