import type LibsqlDatabase from 'libsql';
import { yieldAfterSlice } from '#engine/support';

const REQUESTS_FIRST = 4;

/**
 * Queues work for the single connection of the embedded file, because a statement sent during another caller's transaction
 * would become part of it. Requests precede background work, which gets at least every fifth turn.
 */
export class EmbeddedTurns {
  private readonly requests: (() => void)[] = [];
  private readonly background: (() => void)[] = [];
  private isInUse = false;
  private passed = 0;
  private pausedAt = 0;

  /** Runs work when it is its turn. @param isBackground whether the work does not belong to a request */
  async take<T>(work: () => Promise<T>, isBackground: boolean): Promise<T> {
    if (this.isInUse) {
      const line = isBackground ? this.background : this.requests;
      await new Promise<void>((resolve) => line.push(resolve));
    }
    this.isInUse = true;
    try {
      // Otherwise the synchronous driver would block timers and requests.
      this.pausedAt = await yieldAfterSlice(this.pausedAt);
      return await work();
    } finally {
      this.handOver();
    }
  }

  private handOver(): void {
    const next = this.next();
    // The connection stays in use if there is a successor, so that no other work gets in between.
    this.isInUse = next !== undefined;
    next?.();
  }

  private next(): (() => void) | undefined {
    const isPassed = this.background.length > 0 && this.requests.length > 0;
    if (this.requests.length > 0 && !(isPassed && this.passed >= REQUESTS_FIRST)) {
      this.passed = isPassed ? this.passed + 1 : 0;
      return this.requests.shift();
    }
    this.passed = 0;
    return this.background.shift();
  }
}

type Connection = InstanceType<typeof LibsqlDatabase>;
type Execution<Value> = (...parameters: unknown[]) => Value;
type Statement = { run: Execution<LibsqlDatabase.RunResult>; all: Execution<unknown[]> };

const BEGIN = 'BEGIN TRANSACTION';
const COMMIT = 'COMMIT';
const ROLLBACK = 'ROLLBACK';

/**
 * Makes transactions on a connection to the embedded file behave as TypeORM expects.
 *
 * Each transaction takes the write lock when it begins. Otherwise a transaction that reads first would fail at its first write
 * if another process has written in between.
 *
 * SQLite itself rolls back a transaction when the disk is full or fails (https://www.sqlite.org/lang_transaction.html,
 * "Response To Errors Within A Transaction"). Later statements of that transaction would be committed separately, and the
 * ROLLBACK would fail. TypeORM would then assume an open transaction forever, and never commit again.
 */
export function keepTransactions(connection: Connection): void {
  const transactions = new EmbeddedTransactions(connection);
  const prepare = connection.prepare.bind(connection) as (sql: string) => Statement;
  connection.prepare = ((sql: string) =>
    transactions.watched(sql, prepare(sql === BEGIN ? 'BEGIN IMMEDIATE' : sql))) as Connection['prepare'];
}

class EmbeddedTransactions {
  private isOpen = false;
  private endedBy: unknown = new Error('the transaction has ended');

  constructor(private readonly connection: Connection) {}

  watched(sql: string, statement: Statement): Statement {
    const run = this.guarded(sql, statement.run.bind(statement));
    const all = this.guarded(sql, statement.all.bind(statement));
    return Object.assign(statement, { run: sql === ROLLBACK ? this.rollback(run) : run, all });
  }

  private guarded<Value>(sql: string, execute: Execution<Value>): Execution<Value> {
    return (...parameters) => {
      if (this.hasEnded) {
        throw this.endedBy;
      }
      try {
        const result = execute(...parameters);
        if (sql === BEGIN || sql === COMMIT) {
          this.isOpen = sql === BEGIN;
        }
        return result;
      } catch (error) {
        this.endedBy = error;
        throw error;
      }
    };
  }

  /** Skips the rollback if SQLite has already rolled back. If no transaction began, it fails as TypeORM expects. */
  private rollback(run: Statement['run']): Statement['run'] {
    return (...parameters) => {
      const { hasEnded } = this;
      this.isOpen = false;
      return hasEnded ? { changes: 0, lastInsertRowid: 0 } : run(...parameters);
    };
  }

  private get hasEnded(): boolean {
    return this.isOpen && !this.connection.inTransaction;
  }
}
