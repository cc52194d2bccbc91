import { LastKnown } from './last-known.js';
import type { ProbeAnswer, ProbeQuestion, Readiness } from './probe-thread.types.js';

const JSON_TYPE = 'application/json';
/** The text format of Prometheus. */
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** An answer to a probe or a scrape. */
export interface DeskAnswer {
  readonly status: 200 | 404 | 503;
  readonly type: string;
  readonly body: string;
}

/** Answers probes and scrapes beside the main thread, and tells the truth about it while it is busy. */
export class ProbeDesk {
  private readonly readiness: LastKnown<Readiness>;
  private readonly metrics: LastKnown<string>;

  /**
   * @param maxStallMs how long the main thread may be silent before it counts as dead
   * @param silenceMs milliseconds since the main thread gave its last sign of life
   * @param ask asks the main thread
   */
  constructor(
    private readonly maxStallMs: number,
    private readonly silenceMs: () => number,
    ask: (question: ProbeQuestion) => void,
  ) {
    this.readiness = new LastKnown(() => ask('readiness'), silenceMs);
    this.metrics = new LastKnown(() => ask('metrics'), silenceMs);
  }

  /** The main thread has said something. */
  learn(answer: ProbeAnswer): void {
    if ('readiness' in answer) {
      this.readiness.learn(answer);
    } else if ('metrics' in answer) {
      this.metrics.learn(answer.metrics);
    } else {
      this[answer.unknown].settle();
    }
  }

  /** @param path of a GET request */
  async answer(path: string): Promise<DeskAnswer> {
    switch (path) {
      case '/livez':
        return health(this.isAlive, { silentMs: this.silenceMs() });
      case '/readyz':
        return this.ready();
      case '/metrics':
        return this.scraped();
      default:
        return { status: 404, type: METRICS_TYPE, body: '' };
    }
  }

  private get isAlive(): boolean {
    return this.silenceMs() <= this.maxStallMs;
  }

  private async ready(): Promise<DeskAnswer> {
    const known = await this.readiness.latest();
    const { readiness = false, differs = [] } = known?.value ?? {};
    const details = { ageMs: known?.ageMs ?? null, ...(differs.length > 0 && { differs }) };
    return health(readiness && this.isAlive, details);
  }

  private async scraped(): Promise<DeskAnswer> {
    const known = await this.metrics.latest();
    if (known === undefined) {
      return { status: 503, type: METRICS_TYPE, body: '' };
    }
    const own = [
      [
        'svc_metrics_age_seconds',
        'Age of the other metrics; the main thread is busy when it is not 0.',
        known.ageMs,
      ],
      [
        'svc_main_thread_silence_seconds',
        'Time since the main thread gave a sign of life.',
        this.silenceMs(),
      ],
    ] as const;
    const lines = own.map(
      ([name, help, ms]) => `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name} ${ms / 1_000}\n`,
    );
    return { status: 200, type: METRICS_TYPE, body: known.value + lines.join('') };
  }
}

function health(isWell: boolean, details: object): DeskAnswer {
  const body = JSON.stringify({ status: isWell ? 'ok' : 'unavailable', ...details });
  return { status: isWell ? 200 : 503, type: JSON_TYPE, body };
}
