import type { Database } from '../../../store/database.js';
import type { Quota } from '../model/quota.types.js';
import type { QuotaUsesRepository, QuotaWindow } from '../storage/quota-uses.repository.js';
import { SingleFlight } from '../../../platform/concurrency/single-flight.js';

/** A replica reserves 1/100 of a quota in advance, so that few requests need a statement of their own. */
const SHARE = 100;
/** How long a refusal is cached, so that a flood of refused requests does not become a flood of statements. */
const RECHECK_MS = 1_000;

/** Dependencies of accounts. */
export interface AccountTools {
  readonly database: Database;
  readonly uses: QuotaUsesRepository;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/**
 * Quota of one application or caller in one window, counted in the database for all replicas. Each replica reserves a
 * hundredth of the limit in advance. `take` never exceeds the limit; the unused reserve is lost when the window ends.
 */
export class QuotaAccount {
  /** Unused reserve; negative if more was used than reserved. */
  private held = 0;
  private readonly refilling = new SingleFlight<'account', void>();
  private refused: { amount: number; until: number } | undefined;
  /** Used share of the limit, as last read by this replica. */
  share = 0;

  /** @param endsAt epoch milliseconds */
  constructor(
    private readonly window: QuotaWindow,
    readonly quota: Quota,
    private readonly tools: AccountTools,
  ) {}

  get endsAt(): number {
    return this.window.endsAt.getTime();
  }

  /** Whether this amount, or a smaller one, was refused a moment ago. */
  isRefused(amount: number): boolean {
    return (
      this.refused !== undefined && amount >= this.refused.amount && this.tools.now() < this.refused.until
    );
  }

  /** Whether the quota was used up when last read. */
  get isUsedUp(): boolean {
    return this.held <= 0 && this.share >= 1;
  }

  /** Uses an amount if enough is left. @returns whether it was */
  async take(amount: number): Promise<boolean> {
    while (this.held < amount) {
      // A window that has ended cannot be refilled, so the loop would not end.
      if (this.isRefused(amount) || this.tools.now() >= this.endsAt) {
        return false;
      }
      await this.refill(amount);
    }
    this.held -= amount;
    return true;
  }

  /** Uses an amount known only afterwards; a shortfall is reserved in the background. */
  charge(amount: number): void {
    this.held -= amount;
    if (this.held < 0) {
      // If the database stays unavailable, the next `take` reports it.
      this.settle().catch(() => undefined);
    }
  }

  /** Stores overuse and returns the unused reserve, when the replica stops. */
  async close(): Promise<void> {
    await this.refilling.settled('account');
    const { held, window, tools } = this;
    if (held !== 0 && tools.now() < this.endsAt) {
      this.held = 0;
      await tools.database.writeAside((manager) => tools.uses.force(manager, window, -held));
    }
  }

  private async settle(): Promise<void> {
    await this.refill(1);
    if (this.held < 0) {
      await this.refill(1, true);
    }
  }

  /** Reserves more, in one transaction at a time; concurrent callers wait for it and check again. */
  private refill(amount: number, always = false): Promise<void> {
    return this.refilling.run('account', () => this.transfer(amount, always));
  }

  private async transfer(amount: number, always: boolean): Promise<void> {
    const { database, uses, now } = this.tools;
    const needed = amount - this.held;
    const preferred = Math.max(Math.floor(this.quota.limit / SHARE), needed);
    const debt = -this.held;
    const { taken, used } = await database.writeAside(async (manager) => {
      let taken = 0;
      if (always) {
        taken = debt;
        await uses.force(manager, this.window, debt);
      } else if (await uses.add(manager, this.window, preferred, this.quota.limit)) {
        taken = preferred;
      } else if (preferred > needed && (await uses.add(manager, this.window, needed, this.quota.limit))) {
        taken = needed;
      }
      return { taken, used: await uses.used(manager, this.window) };
    });
    this.held += taken;
    this.share = used / this.quota.limit;
    this.refused =
      taken === 0 || used >= this.quota.limit
        ? { amount: used >= this.quota.limit ? 1 : amount, until: now() + RECHECK_MS }
        : undefined;
  }
}
