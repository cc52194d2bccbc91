import { SingleFlight } from '../../../platform/concurrency/single-flight.js';
import type { JobCount, Payer, Quota } from '../model/quota.types.js';

/** Cached counts of open background jobs by application and caller. */
export class JobCounts {
  private readonly known = { APP: new Map<string, number>(), CALLER: new Map<string, number>() };
  private countedAt = -Infinity;
  private readonly counting = new SingleFlight<'all', void>();

  /** @param validMs how long a count is cached */
  constructor(
    private readonly count: JobCount,
    private readonly validMs: number,
  ) {}

  /** Counts again if the last count has expired. */
  async refresh(): Promise<void> {
    if (performance.now() - this.countedAt >= this.validMs) {
      await this.counting.run('all', () => this.read());
    }
  }

  /** Returns the last count of a payer. */
  of({ scope }: Pick<Quota, 'scope'>, { appId, caller }: Payer): number {
    return this.known[scope].get(scope === 'APP' ? appId : (caller ?? '')) ?? 0;
  }

  /** Returns the largest count of any application or caller. */
  largest({ scope }: Pick<Quota, 'scope'>): number {
    return [...this.known[scope].values()].reduce((most, jobs) => Math.max(most, jobs), 0);
  }

  private async read(): Promise<void> {
    const found = await this.count();
    const { APP, CALLER } = this.known;
    APP.clear();
    CALLER.clear();
    for (const { appId, caller, jobs } of found) {
      APP.set(appId, (APP.get(appId) ?? 0) + jobs);
      if (caller !== null) {
        CALLER.set(caller, (CALLER.get(caller) ?? 0) + jobs);
      }
    }
    this.countedAt = performance.now();
  }
}
