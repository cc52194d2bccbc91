import { setTimeout as sleep } from 'node:timers/promises';
import { firstPlace, type Place, type ProcessClient, type Reply } from './process-client.js';
import { prove } from './proof.js';

const CALLERS = 8;
const PAUSE_MS = 60;
/** Of a light load. */
const LIGHT_PAUSE_MS = 250;
const POLL_MS = 100;
/** How old the write may be that an answer of readiness tells of. */
const AGREE_MS = 1_000;
/** Writes come in at least so often where the machine is fast. */
const LEAST_PAUSE_MS = 250;
const LEAST_FAULT_MS = 4_000;
/** Of the answer to a commit without one. */
const UNKNOWN_OUTCOME = 'may have been stored';

/** What readiness said, and when it was asked. */
interface Look {
  asked: number;
  answered: number;
  isReady: boolean;
}

/** Looks at readiness: all, those that said "not ready", and in words those that said what no write found. */
export interface Looks {
  all: number;
  notReady: number;
  untrue: string[];
}

/**
 * Callers who start instances and take a first step in each, every call with an Idempotency-Key and repeated until it is
 * acknowledged; beside them a balancer that asks whether the service is ready.
 */
export class SteadyOrders {
  /** UUIDs of instances whose start and first step were acknowledged. */
  readonly finished = new Set<string>();
  readonly statuses = new Map<number, number>();
  private readonly successes: number[] = [];
  private readonly refusals: number[] = [];
  private readonly looks: Look[] = [];
  private readonly faults: { from: number; to: number }[] = [];
  private running = true;
  private watched = true;
  private failures = false;
  private work: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly client: ProcessClient,
    private readonly build: string,
    private readonly how: { isReady: () => Promise<boolean>; isLight: boolean },
  ) {}

  begin(): void {
    const callers = Array.from({ length: CALLERS }, (_, caller) => this.call(caller));
    this.work = Promise.all([...callers, this.look()]);
    this.work.catch(() => {
      this.running = false;
    });
  }

  /** Lets every order come to its end, and begins none. */
  async end(): Promise<void> {
    this.running = false;
    await this.work;
  }

  /** While a table is missing, readiness and the writes of callers are two things. */
  watch(isWatched: boolean): void {
    this.watched = isWatched;
  }

  /** While a table is missing a write may fail for a reason of its own. */
  allowFailures(areAllowed: boolean): void {
    this.failures = areAllowed;
  }

  /** Between these moments, on the clock of `performance.now()`, writes need not be served. */
  noteFault(from: number, to: number): void {
    this.faults.push({ from, to });
  }

  /** The longest time between two writes without a fault, milliseconds: looks and writes cannot be compared more exactly. */
  get pauseMs(): number {
    const isQuiet = (one: number, other: number): boolean =>
      !this.faults.some(({ from, to }) => from < other && to > one);
    const pauses = this.successes
      .slice(1)
      .map((at, index) =>
        isQuiet(this.successes[index] ?? at, at) ? at - (this.successes[index] ?? at) : 0,
      );
    return Math.max(LEAST_PAUSE_MS, ...pauses);
  }

  /** How long a fault must last so that a look cannot know of nothing but the time before it: twice what a look is held against. */
  get leastFaultMs(): number {
    return Math.max(LEAST_FAULT_MS, 2 * (AGREE_MS + 2 * this.pauseMs));
  }

  /** What looks are held against, for a person. */
  get agreement(): string {
    const pause = this.pauseMs.toFixed(0);
    return `held against the writes from ${AGREE_MS} + ${pause} ms before the question to ${pause} ms after the answer`;
  }

  /** @returns milliseconds from `since` to the first write acknowledged after it */
  backAfter(since: number, limitMs: number): Promise<number> {
    return this.firstAfter(since, limitMs, { times: this.successes, otherwise: 'no write' });
  }

  /** @returns milliseconds from `since` to the first write that was refused after it */
  refusedAfter(since: number, limitMs: number): Promise<number> {
    return this.firstAfter(since, limitMs, { times: this.refusals, otherwise: 'no refusal' });
  }

  /** Waits until the service says that it is not ready. */
  async notReadyWithin(limitMs: number): Promise<void> {
    const since = performance.now();
    while (await this.how.isReady()) {
      prove(performance.now() - since < limitMs, `ready for ${limitMs} ms while writes are refused`);
      await sleep(POLL_MS);
    }
  }

  private async firstAfter(
    since: number,
    limitMs: number,
    { times, otherwise }: { times: readonly number[]; otherwise: string },
  ): Promise<number> {
    for (;;) {
      const first = times.find((at) => at > since);
      if (first !== undefined) {
        return first - since;
      }
      prove(this.running, 'the load has ended');
      prove(performance.now() - since < limitMs, `${otherwise} within ${limitMs} ms`);
      await sleep(10);
    }
  }

  get looked(): Looks {
    const { pauseMs } = this;
    const untrue = this.looks.filter((look) => !this.agrees(look, pauseMs));
    return {
      all: this.looks.length,
      notReady: this.looks.filter(({ isReady }) => !isReady).length,
      untrue: untrue.map((look) => this.describe(look)),
    };
  }

  private describe({ asked, answered, isReady }: Look): string {
    const before = this.successes.findLast((at) => at <= asked) ?? 0;
    const after = this.successes.find((at) => at >= asked) ?? Infinity;
    const [since, until] = [asked - before, after - asked].map((ms) => `${ms.toFixed(0)} ms`);
    const took = (answered - asked).toFixed(0);
    return `${isReady ? 'ready' : 'not ready'} after ${took} ms, last write ${since} before, next ${until} after`;
  }

  /** Who is ready had a write that succeeded at that time; who is not had one that was refused, or none for a while. */
  private agrees({ asked, answered, isReady }: Look, pauseMs: number): boolean {
    const [from, to] = [asked - AGREE_MS - pauseMs, answered + pauseMs];
    const within = (times: readonly number[]): number[] => times.filter((at) => at >= from && at <= to);
    const successes = within(this.successes);
    if (isReady) {
      return successes.length > 0;
    }
    const moments = [from, ...successes, to];
    const pauses = moments.slice(1).map((at, index) => at - (moments[index] ?? at));
    return within(this.refusals).length > 0 || Math.max(...pauses) > pauseMs;
  }

  /** Begins with the first write, for there is nothing before it that a look could be held against. */
  private async look(): Promise<void> {
    while (this.running && this.successes.length === 0) {
      await sleep(POLL_MS);
    }
    while (this.running) {
      const asked = performance.now();
      const isReady = await this.how.isReady();
      if (this.watched && this.running) {
        this.looks.push({ asked, answered: performance.now(), isReady });
      }
      await sleep(POLL_MS);
    }
  }

  private async call(caller: number): Promise<void> {
    for (let number = 0; this.running; number += 1) {
      const key = `steady-${caller}-${number}`;
      const started = await this.insist(() => this.client.start(this.build, 'approval', { of: key }, key));
      const place: Place = firstPlace(started);
      await this.insist(() => this.client.act(place, 'apply', { apply: key }, `${key}-apply`));
      this.finished.add(place.process);
      await sleep(this.how.isLight ? LIGHT_PAUSE_MS : PAUSE_MS);
    }
  }

  private async insist(send: () => Promise<Reply>): Promise<Reply> {
    for (;;) {
      const reply = await send();
      this.statuses.set(reply.status, (this.statuses.get(reply.status) ?? 0) + 1);
      if (reply.status === 200) {
        this.successes.push(performance.now());
        return reply;
      }
      this.refusals.push(performance.now());
      prove(this.isExpected(reply), `answered ${reply.status}: ${reply.text}`);
      await sleep(PAUSE_MS);
    }
  }

  /** A failure of the database is told as one, or that nobody knows whether a commit was stored. */
  private isExpected({ status, text }: Reply): boolean {
    return status === 503 || (status === 500 && (this.failures || text.includes(UNKNOWN_OUTCOME)));
  }
}
