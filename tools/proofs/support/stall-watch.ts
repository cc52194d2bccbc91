import type { ChildProcess } from 'node:child_process';
import { forkHelper, nextMessage } from './helper-process.js';

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

/** Asks again and again, from a process of its own, between `begin` and `stop`. */
export class StallWatch {
  private constructor(
    private readonly child: ChildProcess,
    private readonly watched: Watched,
  ) {}

  static async open(watched: Watched): Promise<StallWatch> {
    const child = forkHelper('./stall-watch.process.ts');
    await nextMessage(child);
    return new StallWatch(child, watched);
  }

  async begin(): Promise<void> {
    await this.ask(this.watched);
  }

  /** How often the rarest of the questions has been answered since it began. */
  async answers(): Promise<number> {
    return (await this.ask('answers')) as number;
  }

  /** @throws Error when a question was not answered with 200 */
  async stop(): Promise<Noticed> {
    const noticed = (await this.ask('stop')) as Noticed | { error: string };
    if ('error' in noticed) {
      throw new Error(noticed.error);
    }
    return noticed;
  }

  close(): void {
    this.child.kill('SIGKILL');
  }

  private ask(message: Watched | 'answers' | 'stop'): Promise<unknown> {
    const answer = nextMessage(this.child);
    this.child.send(message);
    return answer;
  }
}
