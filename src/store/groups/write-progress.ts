import { CommitUnansweredError } from '../database.errors.js';
import { isRolledBack } from '../connection/driver-errors.js';
import type { SqlExecutor } from './shared-transaction.js';
import { cached } from '#engine/support';

/** Progress of a transaction. What its failure means depends on whether its COMMIT was sent. */
export class WriteProgress {
  private isCommitting = false;
  private abandonedFor: Error | undefined;

  /** Begins an attempt. @throws the reason when the caller no longer waits for the transaction */
  begin(): void {
    if (this.abandonedFor !== undefined) {
      throw this.abandonedFor;
    }
    this.isCommitting = false;
  }

  /** @throws the reason when the caller no longer waits for the transaction, which must be rolled back */
  beginCommit(): void {
    this.begin();
    this.isCommitting = true;
  }

  /** Gives the transaction up: it is not stored unless its COMMIT was sent already. @returns what its caller gets */
  abandon(reason: Error): Error {
    this.abandonedFor = reason;
    return this.isCommitting ? new CommitUnansweredError({ cause: reason }) : reason;
  }

  /** Returns what the failure of an attempt means. Whether a COMMIT without an answer was made is unknown. */
  failed(error: unknown): unknown {
    const isKnown = !this.isCommitting || isRolledBack(error);
    this.isCommitting = false;
    return isKnown ? error : new CommitUnansweredError({ cause: error });
  }
}

const NOTED = new WeakMap<SqlExecutor, (() => void)[]>();

/**
 * Runs a callback after the transaction is committed. A process that crashes in between never runs it, so use it for optimizations only.
 * The callback must not throw.
 */
export function afterCommit(executor: SqlExecutor, callback: () => void): void {
  cached(NOTED, executor, () => []).push(callback);
}

/** Remembers the last attempt of a transaction, whose `afterCommit` callbacks `stored` runs. */
export function followed<Transaction extends SqlExecutor, T>(work: (transaction: Transaction) => Promise<T>) {
  let last: Transaction | undefined;
  return {
    run: (transaction: Transaction): Promise<T> => work((last = transaction)),
    stored: (): void => last && NOTED.get(last)?.forEach((callback) => callback()),
  };
}
