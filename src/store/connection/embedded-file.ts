import { setImmediate } from 'node:timers/promises';
import type LibsqlDatabase from 'libsql';

const LONGEST_HOLD_MS = 5;
const REQUESTS_FIRST = 4;

/**
 * Whose turn it is to use the one connection of the embedded file: a statement sent during someone's transaction would become part of
 * it. Requests go before background work, which gets every fifth turn at least.
 */
export class EmbeddedTurns {
  private readonly requests: (() => void)[] = [];
  private readonly background: (() => void)[] = [];
  private isInUse = false;
  private passed = 0;
  private pausedAt = 0;

  /** @param isBackground whether nobody waits for an answer */
  async take<T>(work: () => Promise<T>, isBackground: boolean): Promise<T> {
    if (this.isInUse) {
      const line = isBackground ? this.background : this.requests;
      await new Promise<void>((resolve) => line.push(resolve));
    }
    this.isInUse = true;
    try {
      await this.pause();
      return await work();
    } finally {
      this.handOver();
    }
  }

  private handOver(): void {
    const next = this.next();
    // Still in use when there is one: nobody may come in between.
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

  // The driver answers at once: whoever asks again and again would never let timers, requests or signals have their turn.
  private async pause(): Promise<void> {
    if (performance.now() - this.pausedAt >= LONGEST_HOLD_MS) {
      await setImmediate();
      this.pausedAt = performance.now();
    }
  }
}

type Connection = InstanceType<typeof LibsqlDatabase>;
type Execution<Value> = (...parameters: unknown[]) => Value;
type Statement = { run: Execution<LibsqlDatabase.RunResult>; all: Execution<unknown[]> };

const BEGIN = 'BEGIN TRANSACTION';
const COMMIT = 'COMMIT';
const ROLLBACK = 'ROLLBACK';

/**
 * Keeps the transactions of one connection to the embedded file what the driver takes them for.
 *
 * Each transaction takes the lock for writing when it begins, and waits there for its turn. A transaction that reads
 * first would fail at its first write if another process has written meanwhile.
 *
 * SQLite itself rolls back a transaction when the disk is full or fails (https://www.sqlite.org/lang_transaction.html,
 * "Response To Errors Within A Transaction"). Later statements of that transaction would be stored by themselves, and
 * the ROLLBACK would be an error. The driver would then believe for good that the transaction goes on, and would commit
 * nothing any more.
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

  /** One that SQLite has rolled back already needs no more of it. One that never began is an error, as the driver expects. */
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
