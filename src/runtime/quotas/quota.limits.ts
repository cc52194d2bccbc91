/** Timing of quotas. */
export const quotaLimits = {
  /** Seconds for which a count of open background jobs is cached; only used with a quota of jobs. */
  countSeconds: 5,
  /** Length in seconds of the window for quotas of starts, data and model tokens, counted from 1970-01-01 00:00 UTC. */
  windowSeconds: 3_600,
};
