/** Limits and times of background jobs. */
export const jobLimits = {
  /** Maximum number of long jobs (agents) that one replica runs concurrently. */
  longConcurrency: 4,
  /** Maximum number of short jobs claimed at once. */
  batch: 50,
  /** Milliseconds after which another worker may claim an unfinished job. Agents have a longer lease of their own. */
  leaseMs: 30_000,
  /** Maximum milliseconds between two polls of an idle worker for jobs of other replicas. Does not delay timers. */
  pollMs: 3_000,
  /** Failed attempts after which a job is given up. */
  maxAttempts: 5,
  /** Attempts that ended with their replica or outlived their lease, after which a job is given up. Database outages do not count. */
  maxCrashes: 20,
  /** Milliseconds before the second attempt of a job; doubles with each further attempt. */
  retryBaseMs: 1_000,
  /** Maximum milliseconds between two attempts of a job. */
  retryMaxMs: 300_000,
  /** Milliseconds that running jobs have to finish when the replica stops; below `shutdownTimeoutMs`. */
  stopGraceMs: 10_000,
  /** Maximum payload of a job in bytes. Above `bytes`, so that calls can pass on their data. */
  maxPayloadBytes: 4_194_304,
};
