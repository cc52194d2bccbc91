import { setTimeout as sleep } from 'node:timers/promises';
import { firstPlace, type Place, type ProcessClient, type Reply } from './process-client.js';
import { prove } from './proof.js';

const CALLERS = 8;
const PAUSE_MS = 60;
const POLL_MS = 100;
/** A look at readiness is at most a second old and takes at most two; writes have to agree with it within that. */
const AGREE_MS = 3_000;
/** Without a success for so long writes are not served. */
const GAP_MS = 500;

/** What readiness said at a moment. */
interface Look {
  at: number;
  isReady: boolean;
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
  private readonly looks: Look[] = [];
  private running = true;
  private watched = true;
  private work: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly client: ProcessClient,
    private readonly build: string,
    private readonly isReady: () => Promise<boolean>,
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

  /** @returns milliseconds from `since` to the first write acknowledged after it */
  async backAfter(since: number, limitMs: number): Promise<number> {
    for (;;) {
      const first = this.successes.find((at) => at > since);
      if (first !== undefined) {
        return first - since;
      }
      prove(this.running, 'the load has ended');
      prove(performance.now() - since < limitMs, `no write within ${limitMs} ms`);
      await sleep(10);
    }
  }

  /** How often readiness said what no write found. */
  disagreements(): { untrue: number; looks: number } {
    return { untrue: this.looks.filter((look) => !this.agrees(look)).length, looks: this.looks.length };
  }

  private agrees({ at, isReady }: Look): boolean {
    const around = [
      at - AGREE_MS,
      ...this.successes.filter((each) => Math.abs(each - at) <= AGREE_MS),
      at + AGREE_MS,
    ];
    return isReady
      ? around.length > 2
      : around.some((each, index) => index > 0 && each - (around[index - 1] ?? each) > GAP_MS);
  }

  private async look(): Promise<void> {
    while (this.running) {
      const isReady = await this.isReady();
      if (this.watched && this.running) {
        this.looks.push({ at: performance.now(), isReady });
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
      await sleep(PAUSE_MS);
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
      prove(reply.status === 500 || reply.status === 503, `answered ${reply.status}: ${reply.text}`);
      await sleep(PAUSE_MS);
    }
  }
}
