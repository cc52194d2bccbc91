import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource, QueryRunner } from 'typeorm';
import { isEmbedded } from './tables/row-locks.js';
import { withPatience } from './connection/server-pool.js';
import { StartError } from '../platform/config/start.error.js';
import { isLockTimeout, isMissingTable } from './connection/driver-errors.js';

/**
 * Runs the pending migrations while no other replica does. Another replica waits, and then finds none pending.
 * @returns the names of the migrations that ran
 * @throws MigrationLockError when another replica takes too long
 */
export async function migrate(dataSource: DataSource, lockTimeoutSeconds: number): Promise<string[]> {
  const run = async (): Promise<string[]> => (await dataSource.runMigrations()).map(({ name }) => name);
  return isEmbedded(dataSource)
    ? run()
    : withPatience(dataSource, () => withMigrationLock(dataSource, lockTimeoutSeconds, run));
}

const SECOND_MS = 1_000;
/** Shorter than the idle timeouts of proxies and servers. */
const KEEP_ALIVE_MS = 5_000;
/** Not created by a migration, because migrations run only after its row is locked. */
const TABLE = 'migration_locks';
const ROW = 'migrations';
const LOCK = `SELECT name FROM ${TABLE} WHERE name = ? FOR UPDATE`;

/** Another replica held the migration lock for longer than `migrationLockSeconds`, or this one lost it. */
export class MigrationLockError extends StartError {
  override readonly name = 'MigrationLockError';
}

/**
 * Runs work while no other replica holds the migration lock. A row lock works with every server and proxy, whereas named locks
 * are unknown to other servers of a group, and lost by proxies that share connections. The lock is released when its connection
 * ends, even if this process crashes. Meanwhile a query keeps the idle connection alive. Not for the embedded file.
 * @param keepAliveMs interval of queries on the connection that holds the lock
 * @throws MigrationLockError when the lock is not available in time or is lost during the work; what `work` throws
 */
export async function withMigrationLock<T>(
  dataSource: DataSource,
  timeoutSeconds: number,
  work: () => Promise<T>,
  keepAliveMs = KEEP_ALIVE_MS,
): Promise<T> {
  const runner = dataSource.createQueryRunner();
  try {
    await ensureRow(runner);
    await runner.startTransaction();
    try {
      await lock(runner, performance.now() + timeoutSeconds * SECOND_MS);
      return await whileHeld(runner, keepAliveMs, work);
    } finally {
      // A lost connection has released the lock, and must not hide why the work failed.
      await runner.rollbackTransaction().catch(() => undefined);
    }
  } finally {
    await runner.release();
  }
}

/** Runs work, but rejects as soon as the lock is lost, because another replica may begin then. */
async function whileHeld<T>(runner: QueryRunner, everyMs: number, work: () => Promise<T>): Promise<T> {
  const done = new AbortController();
  const watch = async (): Promise<never> => {
    for (;;) {
      await sleep(everyMs, undefined, { signal: done.signal });
      await runner.query('SELECT 1').catch(() => lockAgain(runner));
    }
  };
  try {
    return await Promise.race([work(), watch()]);
  } finally {
    done.abort();
  }
}

/** Locks again if the connection is still open, because Vitess ends long transactions. */
async function lockAgain(runner: QueryRunner): Promise<void> {
  try {
    await runner.rollbackTransaction();
    await runner.startTransaction();
    await lock(runner, performance.now());
  } catch {
    throw new MigrationLockError(
      'The connection that held the migration lock was lost. Another replica may be migrating the database.',
    );
  }
}

/** Creates the table and the row of the lock if they are missing. Only this needs the right to create tables. */
async function ensureRow(runner: QueryRunner): Promise<void> {
  const found = await runner.query(`SELECT name FROM ${TABLE} WHERE name = ?`, [ROW]).catch(async (error) => {
    if (!isMissingTable(error)) {
      throw error;
    }
    await runner.query(`CREATE TABLE IF NOT EXISTS ${TABLE} (name varchar(32) NOT NULL PRIMARY KEY)`);
    return [];
  });
  if ((found as unknown[]).length === 0) {
    await runner.query(`INSERT IGNORE INTO ${TABLE} (name) VALUES (?)`, [ROW]).catch((error: unknown) => {
      // Another replica has created the row and holds its lock.
      if (!isLockTimeout(error)) {
        throw error;
      }
    });
  }
}

/** Locks the row. Retries until the deadline, because each statement waits for at most `lockWaitSeconds`. */
async function lock(runner: QueryRunner, deadline: number): Promise<void> {
  for (;;) {
    try {
      await runner.query(LOCK, [ROW]);
      return;
    } catch (error) {
      if (!isLockTimeout(error)) {
        throw error;
      }
      if (performance.now() > deadline) {
        throw new MigrationLockError('Another replica is still migrating the database.');
      }
    }
  }
}
