import type { ProbeAnswer, ProbeQuestion, Readiness } from './main-thread.js';

const JSON_TYPE = 'application/json';
/** The text format of Prometheus. */
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** An answer to a probe or a scrape. */
interface DeskAnswer {
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
   * @param silenceMs milliseconds since its last sign of life
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
    const age = 'Age of the other metrics; the main thread is busy when it is not 0.';
    const silence = 'Time since the main thread gave a sign of life.';
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

function health(isWell: boolean, details: object): DeskAnswer {
  const body = JSON.stringify({ status: isWell ? 'ok' : 'unavailable', ...details });
  return { status: isWell ? 200 : 503, type: JSON_TYPE, body };
}

/** How long nothing is heard of the main thread before nobody waits for its answer. */
const BUSY_MS = 90;
const LOOK_MS = 10;
/** A main thread that is well answers sooner, or its own deadlines end. */
const LONGEST_MS = 10_000;

/** What is known, and how old it is. */
export interface Known<Value> {
  readonly value: Value;
  readonly ageMs: number;
}

/** A fact that the main thread knows. While that one is busy, what it said last counts. */
class LastKnown<Value> {
  private last: { value: Value; at: number } | undefined;
  private isAsked = false;
  private readonly waiting = new Set<() => void>();

  /** @param silenceMs milliseconds since the main thread gave its last sign of life */
  constructor(
    private readonly ask: () => void,
    private readonly silenceMs: () => number,
  ) {}

  /** The main thread has said it. */
  learn(value: Value): void {
    this.last = { value, at: performance.now() };
    this.settle();
  }

  /** The main thread has answered. */
  settle(): void {
    this.isAsked = false;
    this.waiting.forEach((done) => done());
  }

  /** Asks, and waits for as long as the main thread is not busy. Undefined when it never said anything. */
  async latest(): Promise<Known<Value> | undefined> {
    const answered = this.answered();
    if (!this.isAsked) {
      this.isAsked = true;
      this.ask();
    }
    await answered;
    const { last } = this;
    return last && { value: last.value, ageMs: Math.round(performance.now() - last.at) };
  }

  private answered(): Promise<void> {
    const until = performance.now() + LONGEST_MS;
    return new Promise((resolve) => {
      const done = (): void => {
        clearInterval(timer);
        this.waiting.delete(done);
        resolve();
      };
      const look = (): void => {
        if (this.silenceMs() > BUSY_MS || performance.now() > until) {
          done();
        }
      };
      const timer = setInterval(look, LOOK_MS);
      this.waiting.add(done);
      look();
    });
  }
}
