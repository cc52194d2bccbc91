import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, type ObjectLiteral, type SelectQueryBuilder } from 'typeorm';
import { InternalError } from '../common/errors/domain.error.js';
import { Env } from '../config/env.js';
import { isRetryable } from './driver-errors.js';

const BACKOFF_BASE_MS = 5;
/** How long work on the embedded file may keep everything else of this process waiting. */
const LONGEST_HOLD_MS = 5;

/** The database did not answer within DATABASE_DEADLINE_MS. */
export class DatabaseDeadlineError extends InternalError {
  readonly code = 'DATABASE_DEADLINE';
  constructor() {
    super('The database did not answer in time.');
  }
}

/** Work given to `Database` asked `Database` again instead of the manager it was given. A mistake in the code. */
export class NestedDatabaseUseError extends InternalError {
  readonly code = 'DATABASE_NESTED';
  constructor() {
    super('Work on the database must use the manager it was given.');
  }
}

/**
 * The one door to the database. `read` runs plain statements, `write` one transaction that is repeated when the
 * server chose it as the victim of a deadlock; work given to `write` must therefore touch nothing but the manager.
 */
@Injectable()
export class Database {
  private queue: Promise<unknown> = Promise.resolve();
  private pausedAt = 0;
  private readonly atWork = new AsyncLocalStorage<true>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly env: Env,
  ) {}

  /** Whether this is the embedded SQLite file, which has no row locks and one connection. */
  get isEmbedded(): boolean {
    return this.dataSource.options.type === 'better-sqlite3';
  }

  /**
   * Runs statements that only read.
   * @throws NestedDatabaseUseError inside of work that was given to `read` or `write`
   */
  async read<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    const run = this.alone(work);
    const { manager } = this.dataSource;
    return this.isEmbedded ? this.inTurn(() => run(manager)) : this.inTime(run(manager));
  }

  /**
   * Runs `work` in one transaction: all of it is stored or nothing. Rethrows what `work` throws.
   * @throws DatabaseDeadlineError after DATABASE_DEADLINE_MS; whether the work was stored is then unknown
   * @throws NestedDatabaseUseError inside of work that was given to `read` or `write`
   */
  async write<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    const run = this.alone(work);
    return this.isEmbedded
      ? this.inTurn(() => this.dataSource.transaction(run))
      : this.inTime(this.transaction(run));
  }

  /**
   * For services that may ask the database, but not inside of work that was given to it: there the embedded file would
   * wait for itself for ever, and a server for a connection that others hold and likewise wait.
   * @throws NestedDatabaseUseError inside of such work
   */
  refuseNestedUse(): void {
    if (this.atWork.getStore() === true) {
      throw new NestedDatabaseUseError();
    }
  }

  private alone<T>(work: (manager: EntityManager) => Promise<T>): (manager: EntityManager) => Promise<T> {
    this.refuseNestedUse();
    return (manager) => this.atWork.run(true, () => work(manager));
  }

  private async transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.dataSource.transaction(work);
      } catch (error) {
        if (attempt >= this.env.get('DATABASE_TRANSACTION_RETRIES') || !isRetryable(error)) {
          throw error;
        }
      }
      await backOff(attempt);
    }
  }

  /**
   * Locks the rows a query selects until the transaction ends; the embedded file runs one transaction at a time anyway.
   * @param mode `pessimistic_read` keeps the rows as they are, `pessimistic_write` keeps everybody else out
   */
  lock<Row extends ObjectLiteral>(
    query: SelectQueryBuilder<Row>,
    mode: 'pessimistic_read' | 'pessimistic_write',
  ): SelectQueryBuilder<Row> {
    return this.isEmbedded ? query : query.setLock(mode);
  }

  // A server that hangs, or a pool that nobody gives back to, must not become a request that never ends.
  private inTime<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new DatabaseDeadlineError()),
        this.env.get('DATABASE_DEADLINE_MS'),
      );
      work.then(resolve, reject).finally(() => clearTimeout(timer));
    });
  }

  // The embedded file has one connection: a statement sent during someone's transaction would become part of it.
  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.queue.then(() => this.pause()).then(work);
    this.queue = result.catch(() => undefined);
    return result;
  }

  // Its driver answers at once: whoever asks again and again would never let timers, requests or signals have their turn.
  private async pause(): Promise<void> {
    if (performance.now() - this.pausedAt >= LONGEST_HOLD_MS) {
      await setImmediate();
      this.pausedAt = performance.now();
    }
  }
}

function backOff(attempt: number): Promise<void> {
  const limit = BACKOFF_BASE_MS * 2 ** attempt;
  return new Promise((resolve) => {
    setTimeout(resolve, Math.random() * limit);
  });
}
