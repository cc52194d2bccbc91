import { setTimeout as sleep } from 'node:timers/promises';
import { firstPlace, type Place, type ProcessClient, type Reply } from './process-client.js';
import { prove } from './proof.js';

const CALLERS = 8;
const PAUSE_MS = 60;
/** Pause of a light load. */
const LIGHT_PAUSE_MS = 250;
const POLL_MS = 100;
/** Maximum age of the write on which a readiness result may be based. */
const AGREE_MS = 1_000;
/** Minimum tolerance between writes, for fast machines. */
const LEAST_PAUSE_MS = 250;
const LEAST_FAULT_MS = 4_000;
/** Part of the message when the outcome of a commit is unknown. */
const UNKNOWN_OUTCOME = 'may have been stored';

/** One readiness check, with its times and result. */
interface ReadinessCheck {
  sent: number;
  answered: number;
  isReady: boolean;
}

/** Readiness checks: their number, the number of "not ready" results, and descriptions of wrong results. */
export interface ReadinessSummary {
  all: number;
  notReady: number;
  wrong: string[];
}

/**
 * Callers that start instances and execute a first step in each, retrying every call with its Idempotency-Key until it is
 * acknowledged. A load balancer concurrently checks whether the service is ready.
 */
export class SteadyOrders {
  /** UUIDs of instances whose start and first step were acknowledged. */
  readonly finished = new Set<string>();
  readonly statuses = new Map<number, number>();
  private readonly successes: number[] = [];
  private readonly refusals: number[] = [];
  private readonly readings: ReadinessCheck[] = [];
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
    this.work = Promise.all([...callers, this.pollReadiness()]);
    this.work.catch(() => {
      this.running = false;
    });
  }

  /** Completes pending orders and starts none. */
  async end(): Promise<void> {
    this.running = false;
    await this.work;
  }

  /** Sets whether readiness is checked. While a table is missing, readiness does not reflect the writes of callers. */
  watch(isWatched: boolean): void {
    this.watched = isWatched;
  }

  /** Sets whether writes may fail with 500, as they may while a table is missing. */
  allowFailures(areAllowed: boolean): void {
    this.failures = areAllowed;
  }

  /** Records a period (by `performance.now()`) in which writes may fail. */
  noteFault(from: number, to: number): void {
    this.faults.push({ from, to });
  }

  /**
   * Longest time between two writes without a fault, in milliseconds: the precision with which readiness and writes can be
   * compared.
   */
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

  /**
   * Minimum duration of a fault, so that a readiness check cannot be based only on the time before it: twice the compared
   * period.
   */
  get leastFaultMs(): number {
    return Math.max(LEAST_FAULT_MS, 2 * (AGREE_MS + 2 * this.pauseMs));
  }

  /** Describes the period with which readiness is compared. */
  get agreement(): string {
    const pause = this.pauseMs.toFixed(0);
    return `compared with writes from ${AGREE_MS} + ${pause} ms before the request to ${pause} ms after the response`;
  }

  /** Returns the milliseconds from `since` to the first write acknowledged after it. */
  untilNextWrite(since: number, limitMs: number): Promise<number> {
    return this.firstAfter(since, limitMs, { times: this.successes, otherwise: 'no write' });
  }

  /** Returns the milliseconds from `since` to the first write rejected after it. */
  untilNextRejection(since: number, limitMs: number): Promise<number> {
    return this.firstAfter(since, limitMs, { times: this.refusals, otherwise: 'no rejection' });
  }

  /** Waits until the service reports that it is not ready. */
  async notReadyWithin(limitMs: number): Promise<void> {
    const since = performance.now();
    while (await this.how.isReady()) {
      prove(performance.now() - since < limitMs, `still ready after ${limitMs} ms of rejected writes`);
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
      prove(this.running, 'the load ended');
      prove(performance.now() - since < limitMs, `${otherwise} within ${limitMs} ms`);
      await sleep(10);
    }
  }

  get readinessChecks(): ReadinessSummary {
    const { pauseMs } = this;
    const wrong = this.readings.filter((check) => !this.matchesWrites(check, pauseMs));
    return {
      all: this.readings.length,
      notReady: this.readings.filter(({ isReady }) => !isReady).length,
      wrong: wrong.map((check) => this.describe(check)),
    };
  }

  private describe({ sent, answered, isReady }: ReadinessCheck): string {
    const before = this.successes.findLast((at) => at <= sent) ?? 0;
    const after = this.successes.find((at) => at >= sent) ?? Infinity;
    const [since, until] = [sent - before, after - sent].map((ms) => `${ms.toFixed(0)} ms`);
    const took = (answered - sent).toFixed(0);
    return `${isReady ? 'ready' : 'not ready'} after ${took} ms, last write ${since} before, next ${until} after`;
  }

  /**
   * Returns whether a readiness result matches the writes around it: ready requires a successful write, not ready a
   * rejected one or a pause.
   */
  private matchesWrites({ sent, answered, isReady }: ReadinessCheck, pauseMs: number): boolean {
    const [from, to] = [sent - AGREE_MS - pauseMs, answered + pauseMs];
    const within = (times: readonly number[]): number[] => times.filter((at) => at >= from && at <= to);
    const successes = within(this.successes);
    if (isReady) {
      return successes.length > 0;
    }
    const moments = [from, ...successes, to];
    const pauses = moments.slice(1).map((at, index) => at - (moments[index] ?? at));
    return within(this.refusals).length > 0 || Math.max(...pauses) > pauseMs;
  }

  /**
   * Checks readiness continuously, starting after the first write, since earlier results cannot be compared with a write.
   */
  private async pollReadiness(): Promise<void> {
    while (this.running && this.successes.length === 0) {
      await sleep(POLL_MS);
    }
    while (this.running) {
      const sent = performance.now();
      const isReady = await this.how.isReady();
      if (this.watched && this.running) {
        this.readings.push({ sent, answered: performance.now(), isReady });
      }
      await sleep(POLL_MS);
    }
  }

  private async call(caller: number): Promise<void> {
    for (let number = 0; this.running; number += 1) {
      const key = `steady-${caller}-${number}`;
      const started = await this.retryUntilAcknowledged(() =>
        this.client.start(this.build, 'approval', { of: key }, key),
      );
      const place: Place = firstPlace(started);
      await this.retryUntilAcknowledged(() =>
        this.client.act(place, 'apply', { apply: key }, `${key}-apply`),
      );
      this.finished.add(place.process);
      await sleep(this.how.isLight ? LIGHT_PAUSE_MS : PAUSE_MS);
    }
  }

  private async retryUntilAcknowledged(send: () => Promise<Reply>): Promise<Reply> {
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

  /** Returns whether a response correctly reports a database failure, or a commit of unknown outcome. */
  private isExpected({ status, text }: Reply): boolean {
    return status === 503 || (status === 500 && (this.failures || text.includes(UNKNOWN_OUTCOME)));
  }
}
