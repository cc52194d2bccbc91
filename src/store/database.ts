import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { noteStored, requestContext } from '../platform/observability/logging/request-context.js';
import { within } from '../platform/concurrency/deadline.js';
import { withRetries } from '../platform/concurrency/retry.js';
import { Env } from '../platform/config/env.js';
import { followed, WriteProgress } from './groups/write-progress.js';
import {
  isDatabaseFailure,
  DatabaseDeadlineError,
  DatabaseUnavailableError,
  NestedDatabaseUseError,
} from './database.errors.js';
import { isConnectionLost, isOutage, isRetryable, isWriteRefused } from './connection/driver-errors.js';
import { EmbeddedTurns } from './connection/embedded-file.js';
import type { GroupLimits } from './groups/group-queue.js';
import { ReadQueue, type SharedRead } from './groups/read-queue.js';
import { SharedTransaction, type SqlExecutor } from './groups/shared-transaction.js';
import { WriteQueue, type GroupWork } from './groups/write-queue.js';
import { isEmbedded } from './tables/row-locks.js';
import { sendDirectly, watchStatements } from './connection/statement-spans.js';
import { setShardGroups } from './shards.js';
import { dropConnections } from './connection/server-pool.js';
import { databaseLimits } from './database.limits.js';
import { GROUP_RETRY, READ_RETRY, transactionRetry } from './database.retries.js';

/**
 * The only entry to the database. `read` runs plain statements, `write` one transaction. Both may run their work again (see
 * database.retries.ts), so the work must have no effect in memory or elsewhere that a repetition would multiply. Ids that it skips and
 * refusals that metrics count twice do no harm.
 */
@Injectable()
export class Database {
  private readonly turns = new EmbeddedTurns();
  private failedAt: number | undefined;
  private readonly atWork = new AsyncLocalStorage<true>();
  private readonly limits: GroupLimits;
  private readonly groups: WriteQueue;

  constructor(
    private readonly dataSource: DataSource,
    env: Env,
  ) {
    if (this.isEmbedded) {
      watchStatements(dataSource);
    } else {
      sendDirectly(dataSource);
    }
    setShardGroups(dataSource, env.get('DATABASE_SHARDS'));
    this.limits = {
      members: databaseLimits.groupMax,
      groups: this.isEmbedded ? 1 : databaseLimits.groups,
      waiting: databaseLimits.poolQueue,
      waitMs: databaseLimits.deadlineMs,
    };
    this.groups = new WriteQueue(
      { alone: (work) => this.store(work), once: (work) => this.store(work, GROUP_RETRY) },
      { ...this.limits, workMs: databaseLimits.groupWorkMs },
    );
  }

  /** Number of groups that this replica has written, of their members, and of callers with a transaction of their own. */
  get written(): Readonly<WriteQueue['written']> {
    return this.groups.written;
  }

  get isEmbedded(): boolean {
    return isEmbedded(this.dataSource);
  }

  /**
   * Runs statements that only read. Repeats the work once when the connection was lost.
   * @throws DatabaseUnavailableError, DatabaseOverloadedError, DatabaseDeadlineError when the database cannot answer now
   * @throws NestedDatabaseUseError inside work of `read` or `write`
   */
  async read<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.readSince(performance.now(), work);
  }

  /**
   * Returns a function whose concurrent calls share a statement (docs/architecture.md, Shared reads). The statement starts after every call
   * that it answers.
   * @param read reads for any number of calls; returns the results in their order
   * @param keyOf equal for calls that may get the same result object, which callers must not modify
   */
  sharedRead<Part, Result>(
    read: (manager: EntityManager, parts: readonly Part[]) => Promise<readonly Result[]>,
    keyOf: (part: Part) => string,
  ): SharedRead<Part, Result> {
    const queue = new ReadQueue<Part, Result>(this.limits, {
      read: (parts, since) => this.readSince(since, (manager) => read(manager, parts)),
      keyOf,
    });
    return (part) => {
      this.refuseNestedUse();
      return queue.add(part);
    };
  }

  /**
   * The same for statements that change rows outside a transaction: each commits alone. They may be sent twice when the connection was lost,
   * so they must be idempotent.
   * @param change changes rows for any number of calls; returns the results in their order
   */
  sharedChange<Part, Result>(
    change: (manager: EntityManager, parts: readonly Part[]) => Promise<readonly Result[]>,
    keyOf: (part: Part) => string,
  ): SharedRead<Part, Result> {
    return this.sharedRead(async (manager, parts) => {
      const began = performance.now();
      try {
        return await change(manager, parts);
      } catch (error) {
        this.noteFailure(error, began);
        throw error;
      }
    }, keyOf);
  }

  /**
   * Runs work in one transaction and rethrows what the work throws. After the commit, later failures of the current request no longer say
   * that nothing was stored.
   * @throws DatabaseUnavailableError, DatabaseOverloadedError, DatabaseDeadlineError when the database cannot store it now; it is not
   * stored later either
   * @throws CommitUnansweredError when it is unknown whether the work was stored
   * @throws NestedDatabaseUseError inside work of `read` or `write`
   */
  async write<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    const result = await this.writeAside(work);
    noteStored();
    return result;
  }

  /**
   * The same for writes that no caller requested, such as id blocks. They do not count as something that the request has stored.
   * @throws as `write`
   */
  async writeAside<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.followed(work, (run) => this.store(run));
  }

  /**
   * Runs the work of a step in a transaction that it may share with concurrent callers (group commit, docs/architecture.md). The work must
   * leave the group before it waits for rows that other transactions may hold, and must `holdInGroup` what it changes.
   * @param isAlone whether it runs in a transaction of its own
   * @throws as `write`
   */
  async writeTogether<T>(work: GroupWork<T>, isAlone = false): Promise<T> {
    const result = await this.followed(work, (run) =>
      isAlone ? this.store((manager) => run(new SharedTransaction(manager))) : this.groups.add(run),
    );
    noteStored();
    return result;
  }

  private async followed<Transaction extends SqlExecutor, T>(
    work: (transaction: Transaction) => Promise<T>,
    store: (run: typeof work) => Promise<T>,
  ): Promise<T> {
    const { run, stored } = followed(this.guarded(work));
    const result = await store(run).catch((error: unknown) => {
      throw this.toCallerError(error);
    });
    stored();
    return result;
  }

  /**
   * Rejects calls from inside work of `read` or `write`, which could deadlock: the work holds the only connection of the embedded
   * file, and with a server all connections could be held by callers that wait for another one.
   * @throws NestedDatabaseUseError inside such work
   */
  refuseNestedUse(): void {
    if (this.isAtWork) {
      throw new NestedDatabaseUseError();
    }
  }

  get isAtWork(): boolean {
    return this.atWork.getStore() === true;
  }

  /**
   * Whether this replica saw the database fail since a moment, even if a retry succeeded.
   * @param since on the clock of `performance.now()`
   */
  hasFailedSince(since: number): boolean {
    return this.failedAt !== undefined && this.failedAt >= since;
  }

  private async readSince<T>(since: number, work: (manager: EntityManager) => Promise<T>): Promise<T> {
    const run = this.guarded(work);
    const { manager } = this.dataSource;
    try {
      return await (this.isEmbedded
        ? this.runSerially(() => run(manager))
        : this.inTime(
            withRetries(READ_RETRY, (retries) => {
              // The first attempt lost its connection.
              this.failedAt = retries > 0 ? performance.now() : this.failedAt;
              return run(manager);
            }),
            () => new DatabaseDeadlineError(),
            since,
          ));
    } catch (error) {
      throw this.toCallerError(error);
    }
  }

  /** Wraps work so that it cannot call `Database` again. */
  private guarded<On extends SqlExecutor, T>(work: (on: On) => Promise<T>): (on: On) => Promise<T> {
    this.refuseNestedUse();
    return (on) => this.atWork.run(true, () => work(on));
  }

  private store<T>(work: (manager: EntityManager) => Promise<T>, retry = transactionRetry()): Promise<T> {
    const progress = new WriteProgress();
    const attempt = (): Promise<T> => this.attempt(work, progress);
    return this.isEmbedded
      ? this.runSerially(attempt)
      : this.inTime(withRetries(retry, attempt), () => progress.abandon(new DatabaseDeadlineError()));
  }

  private noteFailure(error: unknown, began: number): void {
    if (isWriteRefused(error)) {
      // Older connections lead to the same server. New ones may reach its replacement.
      dropConnections(this.dataSource, began);
    }
    if (isWriteRefused(error) || isConnectionLost(error)) {
      this.failedAt = performance.now();
    }
  }

  private async attempt<T>(
    work: (manager: EntityManager) => Promise<T>,
    progress: WriteProgress,
  ): Promise<T> {
    progress.begin();
    const began = performance.now();
    try {
      return await this.dataSource.transaction(async (manager) => {
        const result = await work(manager);
        progress.beginCommit();
        return result;
      });
    } catch (error) {
      const failure = progress.failed(error);
      this.noteFailure(failure, began);
      throw failure;
    }
  }

  /** Maps outages to an error of their own and leaves other errors as they are. */
  private toCallerError(error: unknown): unknown {
    const mapped = isOutage(error) || isRetryable(error) ? new DatabaseUnavailableError(error) : error;
    if (isDatabaseFailure(mapped)) {
      this.failedAt = performance.now();
    }
    return mapped;
  }

  // A server that hangs, or an exhausted pool, must not lead to a request that never ends.
  private inTime<T>(work: Promise<T>, end: () => Error, since = performance.now()): Promise<T> {
    return within(this.limits.waitMs + since - performance.now(), work, () => {
      throw end();
    });
  }

  private runSerially<T>(work: () => Promise<T>): Promise<T> {
    return this.turns.take(work, requestContext() === undefined);
  }
}
