import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';

const AUTOCANNON = createRequire(import.meta.url).resolve('autocannon');

/** Clock ticks of /proc are a hundredth of a second on Linux. */
const TICK_MICROS = 10_000;

/** What one round of load gave. Latencies in milliseconds. */
export interface Load {
  requestsPerSecond: number;
  p50: number;
  p99: number;
  /** Processor time of the server process for a request, in microseconds: says most on a machine that others use too. */
  cpuMicros: number;
}

/** A round of load. */
export interface LoadOptions {
  /** Process that serves the URL. */
  pid: number;
  token?: string;
  seconds: number;
  connections: number;
}

/**
 * Sends GET requests as fast as the server answers, from a process of its own.
 * @throws Error when anything but 2xx came back, because then nothing was measured
 */
export async function load(url: string, { pid, token, seconds, connections }: LoadOptions): Promise<Load> {
  const headers = token === undefined ? [] : ['-H', `authorization=Bearer ${token}`];
  const cpuBefore = cpuTicks(pid);
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [AUTOCANNON, '-j', '-n', '-c', String(connections), '-d', String(seconds), ...headers, url],
    { maxBuffer: 16_777_216 },
  );
  const cpuUsed = (cpuTicks(pid) - cpuBefore) * TICK_MICROS;
  const result = JSON.parse(stdout) as {
    requests: { average: number };
    latency: { p50: number; p99: number };
    '2xx': number;
    non2xx: number;
    errors: number;
  };
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${url}: ${result.non2xx} answers were not 2xx, ${result.errors} requests failed`);
  }
  return {
    requestsPerSecond: result.requests.average,
    p50: result.latency.p50,
    p99: result.latency.p99,
    cpuMicros: cpuUsed / result['2xx'],
  };
}

/** User and system time of a process (proc_pid_stat(5), fields 14 and 15; the name before them may hold spaces). */
export function cpuTicks(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

/** The middle value; of an even number the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
