import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { Noticed, Times, Watched } from './stall-watch.js';

/**
 * What others notice, timed in a process of its own: whoever makes attacks or builds large packages may be late himself. Started
 * with fork. A message with what is watched begins; `answers` is answered with how often the rarest of the questions has been
 * answered, and `stop` with the times.
 */
const PAUSE_MS = 10;
const PATIENCE_MS = 600_000;

interface Watch {
  readonly agents: Agent[];
  /** Answers of each question. */
  readonly answers: { livez: number; apart: number; reading: number };
  readonly times: { livez: number[]; apart: number[]; reading: number[] };
  isStopped: boolean;
  ended: Promise<unknown>;
}

let watch: Watch | undefined;

function begin({ url, apart, path, token }: Watched): Watch {
  const begun: Watch = {
    agents: [],
    answers: { livez: 0, apart: 0, reading: 0 },
    times: { livez: [], apart: [], reading: [] },
    isStopped: false,
    ended: Promise.resolve(),
  };
  begun.ended = Promise.all([
    ask(begun, 'livez', `${url}/livez`),
    ask(begun, 'apart', `${apart}/livez`),
    ask(begun, 'reading', `${url}${path}`, { authorization: `Bearer ${token}` }),
  ]);
  // A failure is reported where it is awaited.
  begun.ended.catch(() => undefined);
  return begun;
}

/** Asks again and again on a connection of its own. @throws Error when the answer is not 200 */
async function ask(
  begun: Watch,
  kind: keyof Watch['times'],
  url: string,
  headers: Record<string, string> = {},
): Promise<void> {
  const agent = new Agent({ connections: 1, headersTimeout: PATIENCE_MS, bodyTimeout: PATIENCE_MS });
  begun.agents.push(agent);
  while (!begun.isStopped) {
    const start = performance.now();
    const { statusCode, body } = await request(url, { dispatcher: agent, headers });
    await body.dump();
    // Who asks every few milliseconds would have waited, too: a stall counts for as long as it lasts, not once.
    for (let waited = performance.now() - start; waited > 0; waited -= PAUSE_MS) {
      begun.times[kind].push(waited);
    }
    begun.answers[kind] += 1;
    if (statusCode !== 200) {
      throw new Error(`${url} was answered ${statusCode}`);
    }
    await sleep(PAUSE_MS);
  }
}

async function stop({ agents, times, ended }: Watch): Promise<Noticed | { error: string }> {
  try {
    await ended;
  } catch (error) {
    return { error: String(error) };
  } finally {
    await Promise.all(agents.map((agent) => agent.destroy()));
  }
  return { livez: timesOf(times.livez), apart: timesOf(times.apart), reading: timesOf(times.reading) };
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
