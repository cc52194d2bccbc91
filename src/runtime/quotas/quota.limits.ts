/** Times of quotas. */
export const quotaLimits = {
  /** Seconds for which a count of open background jobs is used; only with one of the two quotas above. */
  countSeconds: 5,
  /** Seconds after which quotas of starts, data and tokens begin anew; counted from midnight UTC of 1970-01-01. */
  windowSeconds: 3_600,
};
