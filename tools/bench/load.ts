import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { cpuMicros } from './processor.js';

const AUTOCANNON = createRequire(import.meta.url).resolve('autocannon');

/** Results of one round of load. Latencies are in milliseconds. */
export interface Load {
  requestsPerSecond: number;
  p50: number;
  p99: number;
  /** Processor time of the server process per request, in microseconds: the most reliable figure on a shared machine. */
  cpuMicros: number;
}

/** Parameters of a round of load. */
export interface LoadOptions {
  /** Process id of the server. */
  pid: number;
  token?: string;
  /** Sent as If-None-Match; responses must then be 304. */
  etag?: string;
  seconds: number;
  connections: number;
}

/**
 * Sends GET requests as fast as the server answers, from a separate process.
 * @throws Error when a response is not 2xx (304 with `etag`), because then nothing was measured
 */
export async function load(
  url: string,
  { pid, token, etag, seconds, connections }: LoadOptions,
): Promise<Load> {
  const headers = [
    ...(token === undefined ? [] : ['-H', `authorization=Bearer ${token}`]),
    ...(etag === undefined ? [] : ['-H', `if-none-match=${etag}`]),
  ];
  const cpuBefore = cpuMicros(pid);
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [AUTOCANNON, '-j', '-n', '-c', String(connections), '-d', String(seconds), ...headers, url],
    { maxBuffer: 16_777_216 },
  );
  const cpuUsed = cpuMicros(pid) - cpuBefore;
  const result = JSON.parse(stdout) as {
    requests: { average: number };
    latency: { p50: number; p99: number };
    '2xx': number;
    '3xx': number;
    '4xx': number;
    '5xx': number;
    errors: number;
  };
  const [answered, others] = etag === undefined ? (['2xx', '3xx'] as const) : (['3xx', '2xx'] as const);
  const unexpected = result[others] + result['4xx'] + result['5xx'];
  if (unexpected > 0 || result.errors > 0) {
    throw new Error(`${url}: ${unexpected} responses were not ${answered}, ${result.errors} requests failed`);
  }
  return {
    requestsPerSecond: result.requests.average,
    p50: result.latency.p50,
    p99: result.latency.p99,
    cpuMicros: cpuUsed / result[answered],
  };
}
