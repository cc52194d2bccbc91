import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../../../platform/clock.js';
import { Log } from '../../../platform/observability/logging/log.js';
import { LruCache } from '../../../platform/lru-cache.js';
import { Env } from '../../../platform/config/env.js';
import { Database } from '../../../store/database.js';
import type { CountedKind, Payer, Quota, QuotaKind, QuotaScope } from '../model/quota.types.js';
import { QuotaExceededError } from '../model/quotas.errors.js';
import { QuotaUsesRepository } from '../storage/quota-uses.repository.js';
import { JobCounts } from './job-counts.js';
import { QuotaAccount, type AccountTools } from './quota-account.js';
import { QuotaMetrics } from './quota-metrics.js';
import { quotaLimits } from '../quota.limits.js';

/** Maximum number of accounts kept in memory. */
const MAX_ACCOUNTS = 20_000;
const FINGERPRINT_LENGTH = 16;
const SECOND_MS = 1_000;

/** Requested amounts by kind. */
export type Amounts = Partial<Record<CountedKind, number>>;

/**
 * Quotas of applications and callers, counted across all replicas (docs/operations.md, quotas). They are checked at starts, calls and UI
 * actions, and before model calls. Running work is not interrupted.
 */
@Injectable()
export class QuotasService implements OnModuleDestroy {
  private readonly quotas: readonly Quota[];
  private readonly windowMs: number;
  private readonly countMs: number;
  private readonly tools: AccountTools;
  private readonly jobs: JobCounts | undefined;
  private readonly accounts = new LruCache<string, QuotaAccount>({ entries: MAX_ACCOUNTS }, (account) => {
    account.close().catch(() => undefined);
  });
  /** Accounts already logged in their current window. */
  private readonly logged = new LruCache<string, number>({ entries: MAX_ACCOUNTS });

  constructor(
    database: Database,
    private readonly uses: QuotaUsesRepository,
    private readonly metrics: QuotaMetrics,
    private readonly log: Log,
    clock: Clock,
    env: Env,
  ) {
    this.quotas = quotasOf(env);
    this.windowMs = quotaLimits.windowSeconds * SECOND_MS;
    this.countMs = quotaLimits.countSeconds * SECOND_MS;
    this.jobs = this.has('JOBS')
      ? new JobCounts(() => database.read((manager) => uses.openJobs(manager)), this.countMs)
      : undefined;
    this.tools = { database, uses, now: () => clock.now().getTime() };
    metrics.show(this.quotas, (quota) => this.largestShare(quota));
  }

  /** Stores overuse and returns the unused reserves of this replica. */
  async onModuleDestroy(): Promise<void> {
    await Promise.allSettled(this.accounts.values.map((account) => account.close()));
  }

  /** Whether any application or caller has a quota of this kind. */
  has(kind: QuotaKind): boolean {
    return this.quotas.some((quota) => quota.kind === kind);
  }

  /**
   * Uses amounts, all or none; must not run inside a transaction. Costs nothing without quotas, and an occasional statement with them.
   * @param ownJobs number of open background jobs that make this request themselves
   * @returns function that gives the amounts back if the work did not happen
   * @throws QuotaExceededError when not enough is left, or for a start with too many open background jobs
   */
  async take(payer: Payer, amounts: Amounts, ownJobs = 0): Promise<() => void> {
    if (amounts.STARTS !== undefined) {
      await this.refreshJobs();
      this.requireJobQuota(payer, ownJobs);
    }
    const taken: (() => void)[] = [];
    for (const quota of this.quotas) {
      const amount = quota.kind === 'JOBS' ? undefined : amounts[quota.kind];
      const account = amount === undefined ? undefined : this.accountOf(quota, payer);
      if (amount !== undefined && account !== undefined) {
        if (!(await account.take(amount))) {
          taken.forEach((giveBack) => giveBack());
          throw this.refusal(quota, payer, account);
        }
        taken.push(() => account.charge(-amount));
      }
    }
    return () => taken.forEach((giveBack) => giveBack());
  }

  /** Counts open background jobs again if the last count has expired; must not run inside a transaction. */
  async refreshJobs(): Promise<void> {
    await this.jobs?.refresh();
  }

  /** Checks a quota as known to this replica, without a statement. @throws QuotaExceededError when nothing is left */
  requireQuota(payer: Payer, kind: CountedKind): void {
    this.requireJobQuota(payer, 0);
    for (const quota of this.quotas) {
      const account = quota.kind === kind ? this.accountOf(quota, payer) : undefined;
      if (account?.isUsedUp === true) {
        throw this.refusal(quota, payer, account);
      }
    }
  }

  /** Uses an amount known only afterwards, even beyond the quota. */
  charge(payer: Payer, kind: CountedKind, amount: number): void {
    for (const quota of this.quotas) {
      if (quota.kind === kind && amount > 0) {
        this.accountOf(quota, payer)?.charge(amount);
      }
    }
  }

  /** Removes counts of ended windows; returns how many. */
  async removeEnded(manager: EntityManager, now: Date, limit: number): Promise<number> {
    return this.uses.removeEnded(manager, now, limit);
  }

  private requireJobQuota(payer: Payer, ownJobs: number): void {
    for (const quota of this.jobs === undefined ? [] : this.quotas) {
      if (quota.kind === 'JOBS' && (this.jobs?.of(quota, payer) ?? 0) - ownJobs >= quota.limit) {
        throw this.refusal(quota, payer);
      }
    }
  }

  private accountOf(quota: Quota, payer: Payer): QuotaAccount | undefined {
    const who = quota.scope === 'APP' ? payer.appId : payer.caller;
    if (who === null) {
      return undefined;
    }
    const begin = Math.floor(this.tools.now() / this.windowMs) * this.windowMs;
    const id = `${quota.kind}:${quota.scope}:${who}:${begin / SECOND_MS}`;
    const known = this.accounts.get(id);
    const account =
      known ?? new QuotaAccount({ id, endsAt: new Date(begin + this.windowMs) }, quota, this.tools);
    if (known === undefined) {
      this.accounts.set(id, account);
    }
    return account;
  }

  private refusal(quota: Quota, payer: Payer, account?: QuotaAccount): QuotaExceededError {
    this.metrics.countRefusal(quota);
    const now = this.tools.now();
    const until = account?.endsAt ?? now + this.countMs;
    this.logOnce(quota, payer, until);
    return new QuotaExceededError(quota, Math.max(1, Math.ceil((until - now) / SECOND_MS)));
  }

  /** Logs a used-up quota once per application or caller and window. */
  private logOnce({ name, scope }: Quota, { appId, caller }: Payer, until: number): void {
    const who = scope === 'APP' ? appId : (caller ?? '').slice(0, FINGERPRINT_LENGTH);
    const key = `${name}:${who}`;
    if ((this.logged.get(key) ?? 0) <= this.tools.now()) {
      this.logged.set(key, until);
      this.log.warn('quota used up', { quota: name, ...(scope === 'APP' ? { app: who } : { caller: who }) });
    }
  }

  private largestShare(quota: Quota): number {
    if (quota.kind === 'JOBS') {
      return (this.jobs?.largest(quota) ?? 0) / quota.limit;
    }
    const now = this.tools.now();
    return this.accounts.values
      .filter((account) => account.quota === quota && account.endsAt > now)
      .reduce((most, { share }) => Math.max(most, share), 0);
  }
}

/** Reads the setting QUOTAS. Names such as `caller-data-bytes` give scope and kind. */
export function quotasOf(env: Env): Quota[] {
  return [...env.get('QUOTAS')].map(([name, limit]) => {
    const [scope, ...kind] = name.toUpperCase().split('-');
    return { kind: kind.join('_') as QuotaKind, scope: scope as QuotaScope, name, limit };
  });
}
