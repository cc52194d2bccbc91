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
