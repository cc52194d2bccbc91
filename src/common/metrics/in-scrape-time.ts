import { within } from '../within.js';

const DEADLINE_MS = 1_000;

/**
 * Waits a second at most for figures that are asked of the database, and leaves them out when they cannot be had.
 * Whoever watches the service needs the other metrics most when the database does not answer.
 */
export async function inScrapeTime(work: Promise<void>): Promise<void> {
  const quietly = work.catch(() => undefined);
  await within(DEADLINE_MS, quietly, () => undefined);
}
