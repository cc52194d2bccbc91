/** What a round of calls gave. Latencies in milliseconds. */
export interface Calls {
  perSecond: number;
  p50: number;
  p99: number;
}

/**
 * Calls `work` with 0 to `count - 1`, `callers` at a time, each caller going on as soon as its call has ended.
 * @throws what a call throws, because then nothing was measured
 */
export async function runCallers(
  callers: number,
  count: number,
  work: (index: number) => Promise<unknown>,
): Promise<Calls> {
  const latencies: number[] = [];
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      const start = performance.now();
      await work(index);
      latencies.push(performance.now() - start);
    }
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: callers }, caller));
  const seconds = (performance.now() - start) / 1_000;
  latencies.sort((one, other) => one - other);
  const quantile = (share: number): number =>
    latencies[Math.ceil(latencies.length * share) - 1] ?? Number.NaN;
  return { perSecond: count / seconds, p50: quantile(0.5), p99: quantile(0.99) };
}
