import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { Latencies, Times, Watched } from './stall-watch.js';

/**
 * Measures latencies of other callers in a separate process, since a process that generates attacks may itself be delayed.
 * Started with fork. A message with the watched URLs starts the measurement; `answers` returns the lowest number of
 * responses of any request kind, and `stop` returns the latencies.
 */
const PAUSE_MS = 10;
const REQUEST_TIMEOUT_MS = 600_000;

interface Watch {
  readonly agents: Agent[];
  /** Number of responses by kind of request. */
  readonly answers: { livez: number; probePort: number; reading: number };
  readonly times: { livez: number[]; probePort: number[]; reading: number[] };
  isStopped: boolean;
  ended: Promise<unknown>;
}

let watch: Watch | undefined;

function begin({ url, metricsUrl, path, token }: Watched): Watch {
  const started: Watch = {
    agents: [],
    answers: { livez: 0, probePort: 0, reading: 0 },
    times: { livez: [], probePort: [], reading: [] },
    isStopped: false,
    ended: Promise.resolve(),
  };
  started.ended = Promise.all([
    poll(started, 'livez', `${url}/livez`),
    poll(started, 'probePort', `${metricsUrl}/livez`),
    poll(started, 'reading', `${url}${path}`, { authorization: `Bearer ${token}` }),
  ]);
  // A failure is reported where it is awaited.
  started.ended.catch(() => undefined);
  return started;
}

/**
 * Sends a request repeatedly on its own connection.
 * @throws Error when a response is not 200
 */
async function poll(
  started: Watch,
  kind: keyof Watch['times'],
  url: string,
  headers: Record<string, string> = {},
): Promise<void> {
  const agent = new Agent({
    connections: 1,
    headersTimeout: REQUEST_TIMEOUT_MS,
    bodyTimeout: REQUEST_TIMEOUT_MS,
  });
  started.agents.push(agent);
  while (!started.isStopped) {
    const start = performance.now();
    const { statusCode, body } = await request(url, { dispatcher: agent, headers });
    await body.dump();
    // Requests every few milliseconds would all have waited, so a stall counts for its whole duration, not once.
    for (let waited = performance.now() - start; waited > 0; waited -= PAUSE_MS) {
      started.times[kind].push(waited);
    }
    started.answers[kind] += 1;
    if (statusCode !== 200) {
      throw new Error(`${url} was answered ${statusCode}`);
    }
    await sleep(PAUSE_MS);
  }
}

async function stop({ agents, times, ended }: Watch): Promise<Latencies | { error: string }> {
  try {
    await ended;
  } catch (error) {
    return { error: String(error) };
  } finally {
    await Promise.all(agents.map((agent) => agent.destroy()));
  }
  return {
    livez: timesOf(times.livez),
    probePort: timesOf(times.probePort),
    reading: timesOf(times.reading),
  };
}

function timesOf(times: readonly number[]): Times {
  const sorted = times.toSorted((one, other) => one - other);
  return { p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0, worst: sorted.at(-1) ?? 0 };
}

process.on('message', (message: Watched | 'answers' | 'stop') => {
  if (message === 'answers') {
    process.send?.(Math.min(...Object.values(watch?.answers ?? { none: 0 })));
  } else if (message === 'stop') {
    if (watch !== undefined) {
      watch.isStopped = true;
      void stop(watch).then((noticed) => process.send?.(noticed));
    }
  } else {
    watch = begin(message);
    process.send?.('begun');
  }
});
process.send?.('ready');
