import { CommitUnansweredError } from '../database.errors.js';
import { isRolledBack } from '../connection/driver-errors.js';
import type { Sender } from './step-transaction.js';
import { cached } from '#engine/support';

/** How far a transaction has come: what its end means depends on whether its COMMIT was on the way. */
export class WriteProgress {
  private isCommitting = false;
  private abandonedFor: Error | undefined;

  /** @throws the reason when nobody waits for the transaction any more */
  begin(): void {
    if (this.abandonedFor !== undefined) {
      throw this.abandonedFor;
    }
    this.isCommitting = false;
  }

  /** @throws the reason when nobody waits for the transaction any more: it must be rolled back */
  beginCommit(): void {
    this.begin();
    this.isCommitting = true;
  }

  /** Nobody waits any more: what has not come to its COMMIT yet will not be stored. */
  abandon(reason: Error): Error {
    this.abandonedFor = reason;
    return this.isCommitting ? new CommitUnansweredError({ cause: reason }) : reason;
  }

  /** What the failure of a transaction means. Without an answer that says so nobody knows whether a COMMIT was made. */
  failed(error: unknown): unknown {
    const isKnown = !this.isCommitting || isRolledBack(error);
    this.isCommitting = false;
    return isKnown ? error : new CommitUnansweredError({ cause: error });
  }
}

const NOTED = new WeakMap<Sender, (() => void)[]>();

/**
 * Runs a callback after the transaction is committed. A process that crashes in between never runs it, so use it for optimizations only.
 * The callback must not throw.
 */
export function afterCommit(sender: Sender, callback: () => void): void {
  cached(NOTED, sender, () => []).push(callback);
}

/** Remembers the last attempt of a transaction, whose `afterCommit` callbacks `stored` runs. */
export function followed<Transaction extends Sender, T>(work: (transaction: Transaction) => Promise<T>) {
  let last: Transaction | undefined;
  return {
    run: (transaction: Transaction): Promise<T> => work((last = transaction)),
    stored: (): void => last && NOTED.get(last)?.forEach((callback) => callback()),
  };
}
