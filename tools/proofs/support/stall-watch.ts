import type { ChildProcess } from 'node:child_process';
import { forkHelper, nextMessage } from './helper-process.js';

/** Times of one kind of request, in milliseconds. */
export interface Times {
  readonly p99: number;
  readonly worst: number;
}

/** Latencies of callers other than the attacker: the orchestrator's probe, and a reader with its own token. */
export interface Latencies {
  readonly livez: Times;
  /** The same probe on METRICS_PORT. */
  readonly probePort: Times;
  readonly reading: Times;
}

/** Requests whose latency is measured. */
export interface Watched {
  /** Base URL of the service. */
  readonly url: string;
  /** Base URL of its METRICS_PORT. */
  readonly metricsUrl: string;
  /** Path that another caller reads. */
  readonly path: string;
  /** Token of that caller. */
  readonly token: string;
}

/** Sends requests continuously from a separate process between `begin` and `stop`. */
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

  /** Returns the lowest number of responses of any request kind since the start. */
  async answers(): Promise<number> {
    return (await this.ask('answers')) as number;
  }

  /**
   * Stops and returns the latencies.
   * @throws Error when a response was not 200
   */
  async stop(): Promise<Latencies> {
    const noticed = (await this.ask('stop')) as Latencies | { error: string };
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
