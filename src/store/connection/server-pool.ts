import type { Socket } from 'node:net';
import mysql2, { type Pool, type PoolConnection, type PoolOptions } from 'mysql2';
import { QueryFailedError, type DataSource } from 'typeorm';
import { DatabaseOverloadedError } from '../database.errors.js';
import { PacketLimit } from './packet-limit.js';
import { prepareOn } from './prepared-statements.js';

/** Rules of our own for a connection pool. */
export interface PoolRules {
  sessionStatements: string[];
  silenceMs: number;
  queue: number;
  waitMs: number;
  prepares: boolean;
}

type Borrower = Parameters<Pool['getConnection']>[0];

/** What mysql2 keeps; it offers no other way to see it. */
interface PoolInternals {
  _allConnections: { length: number };
  _freeConnections: { length: number };
  _connectionQueue: { length: number; get: (index: number) => Borrower; removeOne: (index: number) => void };
}
interface ConnectionInternals {
  stream: Socket;
  _command: unknown;
  _commands: { length: number };
  _released: boolean;
}

const pools = new WeakMap<object, ServerPool>();

/** Makes pools as the driver does, and watches over them. */
export function poolFactory(rules: PoolRules): (options: PoolOptions) => Pool {
  return (options) => {
    const pool = mysql2.createPool(options);
    pools.set(pool, new ServerPool(pool, rules, options));
    return pool;
  };
}

/**
 * Runs work whose statements may take long, such as migrations and the wait for others who migrate. A silent statement
 * is left alone as long as the server answers on another connection.
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
 * Ends connections that were opened before a moment: the server at their other end is of no use any more. Those that are
 * lent end when they are given back.
 * @param before on the clock of `performance.now()`
 */
export function dropConnections(dataSource: DataSource, before: number): void {
  poolOf(dataSource)?.drop(before);
}

/**
 * The rows of one statement outside of a transaction. The framework would make an object and a dozen promises for it.
 * @throws as the framework does: QueryFailedError, or what kept the connection from being had
 */
export function queryPool(dataSource: DataSource, sql: string, values: unknown[]): Promise<unknown> {
  const { pool } = dataSource.driver as unknown as { pool: Pool };
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
  const { pool } = dataSource.driver as { pool?: object };
  return pool === undefined ? undefined : pools.get(pool);
}

class ServerPool {
  private readonly openedAt = new Map<PoolConnection, number>();
  private readonly borrowers = new WeakSet<Borrower>();
  private readonly lend: Pool['getConnection'];
  private isPatient = false;
  private readonly packets = new PacketLimit();

  constructor(
    private readonly pool: Pool,
    private readonly rules: PoolRules,
    private readonly options: PoolOptions,
  ) {
    this.lend = pool.getConnection.bind(pool);
    pool.getConnection = (borrower) => this.borrow(borrower);
    pool.on('connection', (connection) => this.opened(connection));
  }

  setPatient(isPatient: boolean): void {
    this.isPatient = isPatient;
  }

  drop(before: number): void {
    for (const [connection, openedAt] of this.openedAt) {
      if (openedAt < before) {
        this.openedAt.delete(connection);
        const { _released: isIdle } = internalsOf(connection);
        if (isIdle) {
          connection.destroy();
        } else {
          connection.release = () => connection.destroy();
        }
      }
    }
  }

  private opened(connection: PoolConnection): void {
    this.openedAt.set(connection, performance.now());
    // TypeORM asks for it with every statement.
    const promising = connection.promise();
    connection.promise = () => promising;
    const forget = (): void => {
      this.openedAt.delete(connection);
    };
    connection.once('end', forget).once('error', forget);
    // The statements are queued before anything the borrower of a new connection sends.
    this.rules.sessionStatements.forEach((statement) => connection.query(statement));
    this.packets.watch(connection);
    if (this.rules.prepares) {
      prepareOn(connection);
    }
    // A server that vanished without a word would keep its connections in the pool until the kernel gives up.
    const internals = internalsOf(connection);
    internals.stream.setTimeout(this.rules.silenceMs);
    internals.stream.on('timeout', () => void this.heardNothing(internals));
  }

  private async heardNothing(connection: ConnectionInternals): Promise<void> {
    if (!isAsked(connection)) {
      return;
    }
    if (this.isPatient && (await answers(this.options, this.rules.silenceMs))) {
      // It is told once, unless it is set anew.
      connection.stream.setTimeout(this.rules.silenceMs);
    } else if (isAsked(connection)) {
      connection.stream.destroy(
        Object.assign(new Error('database connection is silent'), { code: 'DATABASE_SILENT' }),
      );
    }
  }

  private borrow(borrower: Borrower): void {
    if (this.borrowers.has(borrower)) {
      // The pool itself asks again for one who waits already.
      this.lend(borrower);
    } else if (this.queue.length >= this.rules.queue) {
      borrower(new DatabaseOverloadedError(), undefined as never);
    } else {
      this.lend(this.patient(borrower));
    }
  }

  /** A borrower who waits no longer than it may. A connection that comes later is given back. */
  private patient(borrower: Borrower): Borrower {
    let isWaiting = true;
    const end = (): void => {
      isWaiting = false;
      clearTimeout(timer);
    };
    const answer: Borrower = (error, connection) => {
      if (isWaiting) {
        end();
        borrower(error, connection);
      } else if (error === null) {
        connection.release();
      }
    };
    const timer = setTimeout(() => {
      end();
      this.leaveQueue(answer);
      borrower(new DatabaseOverloadedError(), undefined as never);
    }, this.rules.waitMs);
    this.borrowers.add(answer);
    return answer;
  }

  private leaveQueue(borrower: Borrower): void {
    const { queue } = this;
    const index = Array.from(queue, (_none, at) => queue.get(at)).indexOf(borrower);
    if (index >= 0) {
      queue.removeOne(index);
    }
  }

  /** Those for whom no connection is free or being opened. */
  private get queue(): PoolInternals['_connectionQueue'] {
    const { _connectionQueue: queue } = this.pool as unknown as PoolInternals;
    return queue;
  }
}

function internalsOf(connection: PoolConnection): ConnectionInternals {
  return connection as unknown as ConnectionInternals;
}

function isAsked({ _command: command, _commands: commands }: ConnectionInternals): boolean {
  return (command !== undefined && command !== null) || commands.length > 0;
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

/** The state of the connection pool; undefined for the embedded file, which has none. */
export function poolState(dataSource: DataSource) {
  const { pool } = dataSource.driver as { pool?: PoolInternals };
  if (pool === undefined) {
    return undefined;
  }
  const { _allConnections: all, _freeConnections: free, _connectionQueue: queue } = pool;
  return { used: all.length - free.length, idle: free.length, waiting: queue.length };
}
