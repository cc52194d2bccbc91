import { backoff, type RetryPolicy } from '../platform/concurrency/retry.js';
import { isConnectionLost, isRetryable, isWriteRefused } from './connection/driver-errors.js';
import { databaseLimits } from './database.limits.js';

const BACKOFF = { baseMs: 5, maxMs: 5_000 };

/**
 * Retries a transaction that was rolled back through no fault of its own, because of a deadlock, a connection lost before the
 * COMMIT, or a server that became read-only.
 */
export function transactionRetry(): RetryPolicy {
  return {
    retries: databaseLimits.transactionRetries,
    recover: (error) => isRetryable(error) || isWriteRefused(error) || isConnectionLost(error),
    delayMs: (retry) => backoff(retry, BACKOFF),
  };
}

/** Never retries the transaction of a group. After its rollback each member runs in a transaction of its own, which has retries. */
export const GROUP_RETRY: RetryPolicy = { retries: 0, recover: () => false };

/** Retries reads once: one connection of the pool may have ended since it was last used. */
export const READ_RETRY: RetryPolicy = { retries: 1, recover: isConnectionLost };
