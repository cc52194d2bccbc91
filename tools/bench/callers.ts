import { cpuMicros } from './processor.js';

/** What a phase of calls gave. Latencies in milliseconds. */
export interface Calls {
  perSecond: number;
  p50: number;
  p99: number;
  /** Processor time of a call in the process that does the work, in microseconds; NaN where nobody watched. */
  cpu: number;
  /** The same of the database server. */
  databaseCpu: number;
}

/** When a phase ends: by whatever comes first. */
export interface PhaseEnd {
  count?: number;
  seconds?: number;
}

/** Processes whose time is measured. */
export interface Watched {
  pid?: number | undefined;
  databasePid?: number | undefined;
}

/**
 * Calls `work` with 0, 1 and so on, `callers` at a time, each caller going on as soon as its call has ended.
 * @throws what a call throws, because then nothing was measured
 */
export async function runCallers(
  callers: number,
  { count = Number.POSITIVE_INFINITY, seconds = Number.POSITIVE_INFINITY }: PhaseEnd,
  work: (index: number) => Promise<unknown>,
  { pid, databasePid }: Watched = {},
): Promise<Calls> {
  const latencies: number[] = [];
  let next = 0;
  const used = [timer(pid), timer(databasePid)];
  const start = performance.now();
  const end = start + seconds * 1_000;
  const caller = async (): Promise<void> => {
    while (next < count && performance.now() < end) {
      const index = next;
      next += 1;
      const begin = performance.now();
      await work(index);
      latencies.push(performance.now() - begin);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  const taken = (performance.now() - start) / 1_000;
  const [cpu = Number.NaN, databaseCpu = Number.NaN] = used.map((micros) => micros() / latencies.length);
  return { perSecond: latencies.length / taken, ...quantiles(latencies), cpu, databaseCpu };
}

/** Median and 99th percentile, by the nearest rank. */
export function quantiles(values: readonly number[]): { p50: number; p99: number } {
  const sorted = values.toSorted((one, other) => one - other);
  const quantile = (share: number): number => sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN;
  return { p50: quantile(0.5), p99: quantile(0.99) };
}

/** @returns the microseconds that a process has used since now */
function timer(pid: number | undefined): () => number {
  const before = pid === undefined ? Number.NaN : cpuMicros(pid);
  return () => (pid === undefined ? Number.NaN : cpuMicros(pid) - before);
}
