/** Bounds of what is kept of builds in memory, and of comparing them. */
export const buildLimits = {
  /** Process definitions of builds that are kept in memory. */
  cacheEntries: 1_000,
  /** Size of these definitions as JSON, in memory several times as much; workflows of builds have as much again. */
  cacheBytes: 67_108_864,
  /** Builds that wait for their comparison at the most; others get 503. */
  comparisonQueue: 20,
  /** Longest wait for a comparison, in milliseconds; then the answer is 503. */
  comparisonWaitMs: 60_000,
};
