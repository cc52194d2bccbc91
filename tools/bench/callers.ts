import { cpuMicros } from './processor.js';

/** Results of a phase of calls. Latencies are in milliseconds. */
export interface Calls {
  perSecond: number;
  p50: number;
  p99: number;
  /** Processor time per call in the process that does the work, in microseconds; NaN if not measured. */
  cpu: number;
  /** Processor time per call in the database server. */
  databaseCpu: number;
}

/** Limits of a phase, which ends at whichever is reached first. */
export interface PhaseEnd {
  count?: number;
  seconds?: number;
}

/** Processes whose processor time is measured. */
export interface Watched {
  pid?: number | undefined;
  databasePid?: number | undefined;
}

/**
 * Runs `work` with indexes 0, 1, … from `callers` concurrent callers, each starting its next call as soon as the previous
 * one ends.
 * @throws the error of a call, because then nothing was measured
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

/** Returns a function that returns the processor time a process has used since this call, in microseconds. */
function timer(pid: number | undefined): () => number {
  const before = pid === undefined ? Number.NaN : cpuMicros(pid);
  return () => (pid === undefined ? Number.NaN : cpuMicros(pid) - before);
}
