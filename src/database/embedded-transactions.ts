import type LibsqlDatabase from 'libsql';

type Connection = InstanceType<typeof LibsqlDatabase>;
type Result = LibsqlDatabase.RunResult;
/** What the driver uses of a statement. */
interface Statement {
  run: Execution<Result>;
  all: Execution<unknown[]>;
}
type Execution<Value> = (...parameters: unknown[]) => Value;

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
  /** Whether the driver takes itself to be inside of one. */
  private isOpen = false;
  private endedBy: unknown = new Error('the transaction has ended');

  constructor(private readonly connection: Connection) {}

  watched(sql: string, statement: Statement): Statement {
    const run = this.guarded(sql, statement.run.bind(statement));
    const all = this.guarded(sql, statement.all.bind(statement));
    return Object.assign(statement, {
      run: sql === ROLLBACK ? this.rollback(run) : run,
      all,
    });
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
  private rollback(run: Execution<Result>): Execution<Result> {
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
