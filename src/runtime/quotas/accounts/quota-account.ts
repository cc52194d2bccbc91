import type { Database } from '../../../store/database.js';
import type { Quota } from '../model/quota.types.js';
import type { QuotaUsesRepository, QuotaWindow } from '../storage/quota-uses.repository.js';

/** Part of a quota that a replica takes at a time, so that few requests need a statement of their own. */
const SHARE = 100;
/** How long a refusal holds without another look: a flood of refused requests must not become one of statements. */
const RECHECK_MS = 1_000;

/** What accounts work with. */
export interface AccountTools {
  readonly database: Database;
  readonly uses: QuotaUsesRepository;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/**
 * One quota of one application or caller in one window, counted in the database for all replicas. Each takes a
 * hundredth of the limit in advance: `take` never exceeds it, and what is held at the end of the window is lost.
 */
export class QuotaAccount {
  /** Taken in advance; negative when more was used than was taken. */
  private held = 0;
  private taking: Promise<void> | undefined;
  private refused: { amount: number; until: number } | undefined;
  /** Share of the limit that is used, as far as this replica knows. */
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

  /** Whether it is known that so much is not left. */
  isRefused(amount: number): boolean {
    return (
      this.refused !== undefined && amount >= this.refused.amount && this.tools.now() < this.refused.until
    );
  }

  /** Whether it is known that nothing is left. */
  get isUsedUp(): boolean {
    return this.held <= 0 && this.share >= 1;
  }

  /** Uses an amount, if there is as much. @returns whether there was */
  async take(amount: number): Promise<boolean> {
    while (this.held < amount) {
      // At the end of the window a refusal would be over at once, and so be asked for again and again.
      if (this.isRefused(amount) || this.tools.now() >= this.endsAt) {
        return false;
      }
      await this.takeMore(amount);
    }
    this.held -= amount;
    return true;
  }

  /** Uses an amount that nobody could know before; what is missing is taken in the background. */
  charge(amount: number): void {
    this.held -= amount;
    if (this.held < 0) {
      // Whoever asks next tells the failure of the database, if it lasts.
      this.settle().catch(() => undefined);
    }
  }

  /** Stores what was used beyond what was taken, and gives back what is left: for a replica that stops. */
  async close(): Promise<void> {
    await this.taking?.catch(() => undefined);
    const { held, window, tools } = this;
    if (held !== 0 && tools.now() < this.endsAt) {
      this.held = 0;
      await tools.database.writeAside((manager) => tools.uses.force(manager, window, -held));
    }
  }

  private async settle(): Promise<void> {
    await this.takeMore(1);
    if (this.held < 0) {
      await this.takeMore(1, true);
    }
  }

  /** One transaction at a time: who comes meanwhile waits for it, and looks again. */
  private takeMore(amount: number, always = false): Promise<void> {
    this.taking ??= this.transfer(amount, always).finally(() => {
      this.taking = undefined;
    });
    return this.taking;
  }

  private async transfer(amount: number, always: boolean): Promise<void> {
    const { database, uses, now } = this.tools;
    const needed = amount - this.held;
    const wished = Math.max(Math.floor(this.quota.limit / SHARE), needed);
    const debt = -this.held;
    const { taken, used } = await database.writeAside(async (manager) => {
      let taken = 0;
      if (always) {
        taken = debt;
        await uses.force(manager, this.window, debt);
      } else if (await uses.add(manager, this.window, wished, this.quota.limit)) {
        taken = wished;
      } else if (wished > needed && (await uses.add(manager, this.window, needed, this.quota.limit))) {
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
