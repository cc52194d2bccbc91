import { integer } from './setting-rules.js';

/** Settings of background jobs. */
export const jobSettings = {
  JOBS_CONCURRENCY: integer(0, 100, 16).describe(
    'Short background jobs that this replica runs at the same time; 0 where it only answers requests. At least one must run them.',
  ),
};
