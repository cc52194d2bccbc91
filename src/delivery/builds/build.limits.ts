/** Limits of the build caches and of build comparisons. */
export const buildLimits = {
  /** Maximum number of cached process definitions. */
  cacheEntries: 1_000,
  /** Maximum size of the cached definitions as JSON, which takes several times as much memory. Workflows have the same limit again. */
  cacheBytes: 67_108_864,
  /** Maximum number of comparisons that wait; further ones get 503. */
  comparisonQueue: 20,
  /** Maximum time that a comparison waits before it gets 503, in milliseconds. */
  comparisonWaitMs: 60_000,
};
