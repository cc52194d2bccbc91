import { CommitUnansweredError } from './database.errors.js';
import { isRolledBack } from './driver-errors.js';

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

  /**
   * Nobody waits any more: what has not come to its COMMIT yet will not be stored.
   * @returns what its caller is told
   */
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
