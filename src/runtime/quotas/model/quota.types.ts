/** Whose work it is. */
export interface Payer {
  /** Application at the top of the calls. */
  readonly appId: string;
  /** Hash of who started it; null where nobody did. */
  readonly caller: string | null;
}

/** What is counted in a window of time. */
export type CountedKind = 'STARTS' | 'DATA_BYTES' | 'MODEL_TOKENS';

/** Open background jobs are as many as there are. */
export type QuotaKind = CountedKind | 'JOBS';

export type QuotaScope = 'APP' | 'CALLER';

/** A quota by its name, such as app-starts. */
export interface Quota {
  readonly kind: QuotaKind;
  readonly scope: QuotaScope;
  readonly name: string;
  readonly limit: number;
}

/** How many open background jobs a payer has. */
export interface PayerJobs extends Payer {
  readonly jobs: number;
}

/** Counts open background jobs by their payers, in all replicas. */
export type JobCount = () => Promise<readonly PayerJobs[]>;
