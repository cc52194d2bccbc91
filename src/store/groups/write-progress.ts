import type { EntityManager } from 'typeorm';
import { CommitUnansweredError } from '../database.errors.js';
import { isRolledBack } from '../connection/driver-errors.js';
import { cached } from '../../platform/cached.js';

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

const NOTED = new WeakMap<EntityManager, (() => void)[]>();

/**
 * Calls something once the work that was given this manager is stored. A process that dies before that never does, so it is for
 * what only saves time. It must not throw.
 */
export function afterCommit(manager: EntityManager, call: () => void): void {
  cached(NOTED, manager, () => []).push(call);
}

/** Follows work, so that it is known what to call after its commit: what was noted for its last manager, that of the stored attempt. */
export function followed<T>(work: (manager: EntityManager) => Promise<T>) {
  let last: EntityManager | undefined;
  return {
    run: (manager: EntityManager): Promise<T> => work((last = manager)),
    stored: (): void => last && NOTED.get(last)?.forEach((call) => call()),
  };
}
