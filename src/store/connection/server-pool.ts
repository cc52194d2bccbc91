import mysql2, { type Pool, type PoolConnection, type PoolOptions } from 'mysql2';
import { QueryFailedError, type DataSource } from 'typeorm';
import { DatabaseOverloadedError } from '../database.errors.js';
import { isAwaitingAnswer, socketOf } from './mysql2-internals.js';
import { PacketLimit } from './packet-limit.js';
import { prepareOn } from './prepared-statements.js';
import { driverPool } from './typeorm-hooks.js';

/** Limits and session settings of a connection pool, in addition to the driver's. */
export interface PoolRules {
  sessionStatements: string[];
  silenceMs: number;
  queue: number;
  waitMs: number;
  prepares: boolean;
}

type Borrower = Parameters<Pool['getConnection']>[0];

const pools = new WeakMap<object, ServerPool>();

/** Creates pools of the driver that follow these rules. */
export function poolFactory(rules: PoolRules): (options: PoolOptions) => Pool {
  return (options) => {
    const pool = mysql2.createPool(options);
    pools.set(pool, new ServerPool(pool, rules, options));
    return pool;
  };
}

/**
 * Runs work with slow statements, such as migrations. A silent connection is kept while the server answers on another one.
 * @throws what `work` throws
 */
export async function withPatience<T>(dataSource: DataSource, work: () => Promise<T>): Promise<T> {
  const pool = poolOf(dataSource);
  pool?.setPatient(true);
  try {
    return await work();
  } finally {
    pool?.setPatient(false);
  }
}

/**
 * Closes connections opened before a time, because their server is no longer of use. Those in use close when released.
 * @param before on the clock of `performance.now()`
 */
export function dropConnections(dataSource: DataSource, before: number): void {
  poolOf(dataSource)?.drop(before);
}

/**
 * Runs one statement outside of a transaction, without the object and the dozen promises that TypeORM creates for it.
 * @throws QueryFailedError, or why no connection is available, as TypeORM does
 */
export function queryPool(dataSource: DataSource, sql: string, values: unknown[]): Promise<unknown> {
  const pool = driverPool(dataSource) as Pool;
  dataSource.logger.logQuery(sql, values);
  return new Promise((resolve, reject) => {
    pool.getConnection((unavailable, connection) => {
      if (unavailable !== null) {
        reject(unavailable);
        return;
      }
      connection.query(sql, values, (error, rows) => {
        connection.release();
        if (error === null) {
          resolve(rows);
        } else {
          reject(new QueryFailedError(sql, values, error));
        }
      });
    });
  });
}

function poolOf(dataSource: DataSource): ServerPool | undefined {
  const pool = driverPool(dataSource);
  return pool === undefined ? undefined : pools.get(pool);
}

class ServerPool {
  private readonly openedAt = new Map<PoolConnection, number>();
  private readonly idle = new Set<PoolConnection>();
  /** By borrower of the driver: whether it still wants a connection. */
  private readonly borrowers = new WeakMap<Borrower, { isPatient: boolean }>();
  private readonly waiting = new Set<Borrower>();
  /** Whether the last call for a connection has to wait for one. */
  private isQueued = false;
  private readonly lend: Pool['getConnection'];
  private isPatient = false;
  private readonly packets = new PacketLimit();

  constructor(
    pool: Pool,
    private readonly rules: PoolRules,
    private readonly options: PoolOptions,
  ) {
    this.lend = pool.getConnection.bind(pool);
    pool.getConnection = (borrower) => this.borrow(borrower);
    pool.on('connection', (connection) => this.opened(connection));
    pool.on('acquire', (connection) => this.idle.delete(connection));
    pool.on('release', (connection) => this.idle.add(connection));
    pool.on('enqueue', () => {
      this.isQueued = true;
    });
  }

  get state() {
    const { openedAt, idle, waiting } = this;
    return { used: openedAt.size - idle.size, idle: idle.size, waiting: waiting.size };
  }

  setPatient(isPatient: boolean): void {
    this.isPatient = isPatient;
  }

  drop(before: number): void {
    for (const [connection, openedAt] of this.openedAt) {
      if (openedAt < before) {
        if (this.idle.has(connection)) {
          this.forget(connection);
          connection.destroy();
        } else {
          connection.release = () => {
            this.forget(connection);
            connection.destroy();
          };
        }
      }
    }
  }

  private opened(connection: PoolConnection): void {
    this.openedAt.set(connection, performance.now());
    // TypeORM calls it with every statement.
    const promising = connection.promise();
    connection.promise = () => promising;
    const forget = (): void => this.forget(connection);
    connection.once('end', forget).once('error', forget);
    // The driver queues these before any statement of the borrower.
    this.rules.sessionStatements.forEach((statement) => connection.query(statement));
    this.packets.watch(connection);
    if (this.rules.prepares) {
      prepareOn(connection);
    }
    // Otherwise connections to a server that vanished would stay in the pool until the kernel gives up.
    socketOf(connection)
      .setTimeout(this.rules.silenceMs)
      .on('timeout', () => void this.endSilent(connection));
  }

  private forget(connection: PoolConnection): void {
    this.openedAt.delete(connection);
    this.idle.delete(connection);
  }

  private async endSilent(connection: PoolConnection): Promise<void> {
    if (!isAwaitingAnswer(connection)) {
      return;
    }
    if (this.isPatient && (await answers(this.options, this.rules.silenceMs))) {
      // The event comes once for each timeout that is set.
      socketOf(connection).setTimeout(this.rules.silenceMs);
    } else if (isAwaitingAnswer(connection)) {
      socketOf(connection).destroy(
        Object.assign(new Error('database connection is silent'), { code: 'DATABASE_SILENT' }),
      );
    }
  }

  private borrow(borrower: Borrower): void {
    // The pool itself calls again for a borrower that is waiting already.
    if (!this.borrowers.has(borrower) && this.waiting.size >= this.rules.queue) {
      borrower(new DatabaseOverloadedError(), undefined as never);
      return;
    }
    const answer = this.borrowers.has(borrower) ? borrower : this.patient(borrower);
    this.isQueued = false;
    this.lend(answer);
    if (this.isQueued && this.borrowers.get(answer)?.isPatient === true) {
      this.waiting.add(answer);
    }
  }

  /** Wraps a borrower that waits for a limited time. A connection that comes later is released at once. */
  private patient(borrower: Borrower): Borrower {
    const state = { isPatient: true };
    const end = (): void => {
      state.isPatient = false;
      clearTimeout(timer);
      this.waiting.delete(answer);
    };
    const answer: Borrower = (error, connection) => {
      if (state.isPatient) {
        end();
        borrower(error, connection);
      } else if (error === null) {
        connection.release();
      }
    };
    const timer = setTimeout(() => {
      end();
      borrower(new DatabaseOverloadedError(), undefined as never);
    }, this.rules.waitMs);
    this.borrowers.set(answer, state);
    return answer;
  }
}

function answers(options: PoolOptions, limitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = mysql2.createConnection(options);
    const end = (isAnswered: boolean): void => {
      clearTimeout(timer);
      connection.destroy();
      resolve(isAnswered);
    };
    const timer = setTimeout(() => end(false), limitMs);
    connection.on('error', () => end(false));
    connection.ping((error) => end(!(error instanceof Error)));
  });
}

/** Returns the state of the connection pool; undefined for the embedded file. */
export function poolState(dataSource: DataSource): ServerPool['state'] | undefined {
  return poolOf(dataSource)?.state;
}
