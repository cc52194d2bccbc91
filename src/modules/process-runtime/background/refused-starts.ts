import { JobPutOffError } from '../../jobs/queue/jobs.errors.js';
import { QuotaExceededError } from '../../quotas/model/quotas.errors.js';

const SECOND_MS = 1_000;

/** What a start that nobody waits for fails with: beyond a quota its job waits, and every other error stays as it is. */
export function laterIfRefused(error: unknown): unknown {
  return error instanceof QuotaExceededError
    ? new JobPutOffError(error.retryAfterSeconds * SECOND_MS, { cause: error })
    : error;
}
