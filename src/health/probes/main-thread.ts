/** What the thread of the probes is started with. */
export interface ProbeThreadSettings {
  readonly host: string;
  readonly port: number;
  /** How long the main thread may be silent before it counts as dead, in milliseconds. */
  readonly maxStallMs: number;
  /** One number: when the main thread gave its last sign of life, in nanoseconds of `process.hrtime`. */
  readonly pulse: BigInt64Array;
}

/** What the thread asks the main thread for. */
export type ProbeQuestion = 'readiness' | 'metrics';

/** From the thread: a question, or what came of listening, with its id (`threadId`). */
export type ProbeThreadMessage =
  { ask: ProbeQuestion } | { listening: true; thread: number | undefined } | { failed: string };

/** Whether callers may be sent here, and in what other replicas differ from this one. */
export interface Readiness {
  readiness: boolean;
  differs?: readonly string[];
}

/** From the main thread: whether callers may be sent here, the metrics in the Prometheus text format, or that it cannot say. */
export type ProbeAnswer = Readiness | { metrics: string } | { unknown: ProbeQuestion };

/** How often the main thread gives a sign of life. */
const BEAT_MS = 50;
const NANOSECONDS_A_MILLISECOND = 1_000_000n;

/** Memory for a pulse, which threads share. */
export function newPulse(): BigInt64Array {
  return new BigInt64Array(new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT));
}

/** Lets this thread give signs of life for as long as its event loop turns. @returns ends it */
export function beat(pulse: BigInt64Array): () => void {
  const sign = (): void => void Atomics.store(pulse, 0, process.hrtime.bigint());
  sign();
  const timer = setInterval(sign, BEAT_MS).unref();
  return () => clearInterval(timer);
}

/** Milliseconds since the last sign of life. */
export function silenceMs(pulse: BigInt64Array): number {
  return Number((process.hrtime.bigint() - Atomics.load(pulse, 0)) / NANOSECONDS_A_MILLISECOND);
}
