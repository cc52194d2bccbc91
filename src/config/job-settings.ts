import { flag, integer } from './setting-rules.js';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Settings of background jobs. */
export const jobSettings = {
  JOBS_WORKERS: flag(true).describe(
    'Run background jobs in this replica; false for replicas that only answer requests. At least one must run them.',
  ),
  JOBS_CONCURRENCY: integer(1, 100, 16).describe('Short background jobs that run at the same time.'),
  JOBS_LONG_CONCURRENCY: integer(1, 100, 4).describe(
    'Long background jobs (agents) that run at the same time.',
  ),
  JOBS_BATCH: integer(1, 500, 50).describe('Most short background jobs taken from the database at once.'),
  JOBS_LEASE_MS: integer(500, 10 * MINUTE_MS, 30_000).describe(
    'Milliseconds after which a job that was not finished is taken from its worker; agents have their own, longer one.',
  ),
  JOBS_POLL_MS: integer(10, MINUTE_MS, 3_000).describe(
    'Longest milliseconds between two looks for jobs of other replicas while there are none; timers are not late by it.',
  ),
  JOBS_MAX_ATTEMPTS: integer(1, 100, 5).describe('How often a job may fail before it is given up.'),
  JOBS_MAX_CRASHES: integer(1, 1_000, 20).describe(
    'How often a job may be begun without an end, because its replica died or it took longer than its lease, before it is given up; an outage of the database does not count.',
  ),
  JOBS_RETRY_BASE_MS: integer(1, 10 * MINUTE_MS, SECOND_MS).describe(
    'Milliseconds before the second attempt of a job; doubles with each further one.',
  ),
  JOBS_RETRY_MAX_MS: integer(1, DAY_MS, 5 * MINUTE_MS).describe(
    'Longest milliseconds between two attempts of a job.',
  ),
  JOBS_STOP_GRACE_MS: integer(0, 10 * MINUTE_MS, 10_000).describe(
    'Milliseconds that running jobs get to finish when the replica stops; below SHUTDOWN_TIMEOUT_MS.',
  ),
  JOBS_MAX_PAYLOAD_BYTES: integer(1_024, 16_777_216, 4_194_304).describe(
    'Bytes of data that one background job may carry; above PROCESS_DATA_MAX_BYTES, which calls hand on.',
  ),
};
