import type { ProbeAnswer, ProbeQuestion, Readiness } from './main-thread.js';

const JSON_TYPE = 'application/json';
/** The text format of Prometheus. */
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Response to a probe or a scrape. */
interface DeskAnswer {
  readonly status: 200 | 404 | 503;
  readonly type: string;
  readonly body: string;
}

/** Answers probes and scrapes in their own thread, from the last known state while the main thread is busy. */
export class ProbeDesk {
  private readonly readiness: LastKnown<Readiness>;
  private readonly metrics: LastKnown<string>;

  /**
   * @param maxStallMs milliseconds without a heartbeat after which the main thread counts as dead
   * @param silenceMs returns the milliseconds since the last heartbeat
   * @param ask sends a question to the main thread
   */
  constructor(
    private readonly maxStallMs: number,
    private readonly silenceMs: () => number,
    ask: (question: ProbeQuestion) => void,
  ) {
    this.readiness = new LastKnown(() => ask('readiness'), silenceMs);
    this.metrics = new LastKnown(() => ask('metrics'), silenceMs);
  }

  /** Receives an answer of the main thread. */
  learn(answer: ProbeAnswer): void {
    if ('readiness' in answer) {
      this.readiness.learn(answer);
    } else if ('metrics' in answer) {
      this.metrics.learn(answer.metrics);
    } else {
      this[answer.unknown].settle();
    }
  }

  /** Returns the response to a GET request. @param path path of the request */
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
    const age = 'Age of the other metrics; the main thread is busy when it is not 0.';
    const silence = 'Time since the last heartbeat of the main thread.';
    const own = [
      gaugeText('svc_metrics_age_seconds', age, known.ageMs),
      gaugeText('svc_main_thread_silence_seconds', silence, this.silenceMs()),
    ];
    return { status: 200, type: METRICS_TYPE, body: known.value + own.join('') };
  }
}

function gaugeText(name: string, help: string, ms: number): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name} ${ms / 1_000}\n`;
}

function health(isOk: boolean, details: object): DeskAnswer {
  const body = JSON.stringify({ status: isOk ? 'ok' : 'unavailable', ...details });
  return { status: isOk ? 200 : 503, type: JSON_TYPE, body };
}

/** Milliseconds without a heartbeat after which the main thread counts as busy, so its answer is not awaited. */
const BUSY_MS = 90;
const CHECK_MS = 10;
/** Upper bound of a wait. A responsive main thread answers sooner because of its own deadlines. */
const MAX_WAIT_MS = 10_000;

/** Last known value and its age. */
export interface Known<Value> {
  readonly value: Value;
  readonly ageMs: number;
}

/** A value owned by the main thread. While that thread is busy, its last answer is used. */
class LastKnown<Value> {
  private last: { value: Value; at: number } | undefined;
  private isPending = false;
  private readonly waiting = new Set<() => void>();

  /** @param silenceMs returns the milliseconds since the last heartbeat of the main thread */
  constructor(
    private readonly ask: () => void,
    private readonly silenceMs: () => number,
  ) {}

  /** Stores a new value and ends all waits. */
  learn(value: Value): void {
    this.last = { value, at: performance.now() };
    this.settle();
  }

  /** Ends all waits. */
  settle(): void {
    this.isPending = false;
    this.waiting.forEach((done) => done());
  }

  /** Asks the main thread and waits while it is responsive. @returns the last known value, undefined when there is none yet */
  async latest(): Promise<Known<Value> | undefined> {
    const answered = this.answered();
    if (!this.isPending) {
      this.isPending = true;
      this.ask();
    }
    await answered;
    const { last } = this;
    return last && { value: last.value, ageMs: Math.round(performance.now() - last.at) };
  }

  private answered(): Promise<void> {
    const until = performance.now() + MAX_WAIT_MS;
    return new Promise((resolve) => {
      const done = (): void => {
        clearInterval(timer);
        this.waiting.delete(done);
        resolve();
      };
      const check = (): void => {
        if (this.silenceMs() > BUSY_MS || performance.now() > until) {
          done();
        }
      };
      const timer = setInterval(check, CHECK_MS);
      this.waiting.add(done);
      check();
    });
  }
}
