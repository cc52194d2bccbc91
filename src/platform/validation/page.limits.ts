/** Limits of pages of lists. */
export const pageLimits = {
  /** Default number of entries in a page. */
  size: 50,
};
