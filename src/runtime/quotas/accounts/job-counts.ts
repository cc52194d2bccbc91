import type { JobCount, Payer, Quota } from '../model/quota.types.js';

/** Open background jobs of applications and callers as the database had them a moment ago. */
export class JobCounts {
  private readonly known = { APP: new Map<string, number>(), CALLER: new Map<string, number>() };
  private countedAt = -Infinity;
  private counting: Promise<void> | undefined;

  /** @param validMs how long a count is used */
  constructor(
    private readonly count: JobCount,
    private readonly validMs: number,
  ) {}

  /** Counts anew where the last count is too old. */
  async refresh(): Promise<void> {
    if (performance.now() - this.countedAt >= this.validMs) {
      this.counting ??= this.read().finally(() => {
        this.counting = undefined;
      });
      await this.counting;
    }
  }

  /** As last counted. */
  of({ scope }: Pick<Quota, 'scope'>, { appId, caller }: Payer): number {
    return this.known[scope].get(scope === 'APP' ? appId : (caller ?? '')) ?? 0;
  }

  /** The largest one. */
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
