/** Application and caller whose quotas work counts against. */
export interface Payer {
  /** Application of the first caller in the call chain. */
  readonly appId: string;
  /** Hash of the caller who started the work; null if no caller did. */
  readonly caller: string | null;
}

/** Kinds counted per time window. */
export type CountedKind = 'STARTS' | 'DATA_BYTES' | 'MODEL_TOKENS';

/** All kinds of quotas. `JOBS` limits the current number of open background jobs. */
export type QuotaKind = CountedKind | 'JOBS';

export type QuotaScope = 'APP' | 'CALLER';

/** Quota of one kind and scope, such as `app-starts`. */
export interface Quota {
  readonly kind: QuotaKind;
  readonly scope: QuotaScope;
  readonly name: string;
  readonly limit: number;
}

/** Number of open background jobs of a payer. */
export interface PayerJobs extends Payer {
  readonly jobs: number;
}

/** Counts open background jobs by payer, across all replicas. */
export type JobCount = () => Promise<readonly PayerJobs[]>;
