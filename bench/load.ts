import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';

const AUTOCANNON = createRequire(import.meta.url).resolve('autocannon');

/** What one round of load gave. Latencies in milliseconds. */
export interface Load {
  requestsPerSecond: number;
  p50: number;
  p99: number;
}

/**
 * Sends GET requests as fast as the server answers, from a process of its own.
 * @throws Error when anything but 2xx came back, because then nothing was measured
 */
export async function load(
  url: string,
  { token, seconds, connections }: { token?: string; seconds: number; connections: number },
): Promise<Load> {
  const headers = token === undefined ? [] : ['-H', `authorization=Bearer ${token}`];
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [AUTOCANNON, '-j', '-n', '-c', String(connections), '-d', String(seconds), ...headers, url],
    { maxBuffer: 16_777_216 },
  );
  const result = JSON.parse(stdout) as {
    requests: { average: number };
    latency: { p50: number; p99: number };
    non2xx: number;
    errors: number;
  };
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${url}: ${result.non2xx} answers were not 2xx, ${result.errors} requests failed`);
  }
  return { requestsPerSecond: result.requests.average, p50: result.latency.p50, p99: result.latency.p99 };
}

/** The middle value; of an even number the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
