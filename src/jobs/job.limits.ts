/** Times and bounds of background jobs. */
export const jobLimits = {
  /** Long background jobs (agents) that run at the same time. */
  longConcurrency: 4,
  /** Most short background jobs taken from the database at once. */
  batch: 50,
  /** Milliseconds after which a job that was not finished is taken from its worker; agents have their own, longer one. */
  leaseMs: 30_000,
  /** Longest milliseconds between two looks for jobs of other replicas while there are none; timers are not late by it. */
  pollMs: 3_000,
  /** How often a job may fail before it is given up. */
  maxAttempts: 5,
  /** How often a job may be begun without an end, because its replica died or it took longer than its lease, before it is given up; an outage of the database does not count. */
  maxCrashes: 20,
  /** Milliseconds before the second attempt of a job; doubles with each further one. */
  retryBaseMs: 1_000,
  /** Longest milliseconds between two attempts of a job. */
  retryMaxMs: 300_000,
  /** Milliseconds that running jobs get to finish when the replica stops; below `shutdownTimeoutMs`. */
  stopGraceMs: 10_000,
  /** Bytes of data that one background job may carry; above `bytes`, which calls hand on. */
  maxPayloadBytes: 4_194_304,
};
