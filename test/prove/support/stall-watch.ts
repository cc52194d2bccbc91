import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';

const PAUSE_MS = 10;
const PATIENCE_MS = 600_000;

/** Times of one kind of request, in milliseconds. */
export interface Times {
  readonly p99: number;
  readonly worst: number;
}

/** What others than an attacker notice: the probe of the orchestrator, and a reader with a token of its own. */
export interface Noticed {
  readonly livez: Times;
  /** The same probe on METRICS_PORT. */
  readonly apart: Times;
  readonly reading: Times;
}

/** What is asked. */
export interface Watched {
  /** Base URL of the service. */
  readonly url: string;
  /** Base URL of its METRICS_PORT. */
  readonly apart: string;
  /** Path that another caller reads. */
  readonly path: string;
  /** Token of that caller. */
  readonly token: string;
}

/** Asks again and again, each question on a connection of its own, until it is told to stop. */
export class StallWatch {
  private readonly agents: Agent[] = [];
  private readonly times = { livez: [] as number[], apart: [] as number[], reading: [] as number[] };
  private isStopped = false;
  private readonly ended: Promise<unknown>;

  constructor({ url, apart, path, token }: Watched) {
    this.ended = Promise.all([
      this.ask(`${url}/livez`, {}, this.times.livez),
      this.ask(`${apart}/livez`, {}, this.times.apart),
      this.ask(`${url}${path}`, { authorization: `Bearer ${token}` }, this.times.reading),
    ]);
    // A failure is reported where it is awaited.
    this.ended.catch(() => undefined);
  }

  /** How often the rarest of the questions has been answered. */
  get answers(): number {
    return Math.min(...Object.values(this.times).map(({ length }) => length));
  }

  /** @throws Error when a question was not answered with 200 */
  async stop(): Promise<Noticed> {
    this.isStopped = true;
    await this.ended;
    await Promise.all(this.agents.map((agent) => agent.destroy()));
    const { livez, apart, reading } = this.times;
    return { livez: timesOf(livez), apart: timesOf(apart), reading: timesOf(reading) };
  }

  private async ask(url: string, headers: Record<string, string>, times: number[]): Promise<void> {
    const agent = new Agent({ connections: 1, headersTimeout: PATIENCE_MS, bodyTimeout: PATIENCE_MS });
    this.agents.push(agent);
    while (!this.isStopped) {
      const begun = performance.now();
      const { statusCode, body } = await request(url, { dispatcher: agent, headers });
      await body.dump();
      times.push(performance.now() - begun);
      if (statusCode !== 200) {
        throw new Error(`${url} was answered ${statusCode}`);
      }
      await sleep(PAUSE_MS);
    }
  }
}

function timesOf(times: readonly number[]): Times {
  const sorted = times.toSorted((one, other) => one - other);
  return { p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0, worst: sorted.at(-1) ?? 0 };
}
