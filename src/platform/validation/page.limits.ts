/** Bounds of pages of lists. */
export const pageLimits = {
  /** Entries in a page when the caller does not say. */
  size: 50,
};
