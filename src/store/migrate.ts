import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource, QueryRunner } from 'typeorm';
import { isEmbedded } from './tables/row-locks.js';
import { withPatience } from './connection/server-pool.js';
import { StartError } from '../platform/config/start.error.js';
import { isLockTimeout, isMissingTable } from './connection/driver-errors.js';

/**
 * Runs the pending migrations while no other replica does: the later one waits and finds nothing left to do.
 * @throws MigrationLockError when the other one takes too long
 */
export async function migrate(dataSource: DataSource, lockTimeoutSeconds: number): Promise<string[]> {
  const run = async (): Promise<string[]> => (await dataSource.runMigrations()).map(({ name }) => name);
  return isEmbedded(dataSource)
    ? run()
    : withPatience(dataSource, () => withMigrationLock(dataSource, lockTimeoutSeconds, run));
}

const SECOND_MS = 1_000;
/** Shorter than any time after which a proxy or server ends a connection that says nothing. */
const SIGN_OF_LIFE_MS = 5_000;
/** Not one of the migrations, which must not begin before it is locked. */
const TABLE = 'migration_locks';
const ROW = 'migrations';
const LOCK = `SELECT name FROM ${TABLE} WHERE name = ? FOR UPDATE`;

/** Another replica held the migration lock for longer than `migrationLockSeconds`, or this one has lost it. */
export class MigrationLockError extends StartError {
  override readonly name = 'MigrationLockError';
}

/**
 * Runs work while no other replica does its own. The lock is one on a row, which every server and proxy understands: named locks of
 * a server are unknown to its group, and lost by proxies that share connections. Its transaction changes nothing and ends with its
 * connection, so also when this process dies. Meanwhile it gives signs of life, since who is in between ends idle connections. Not for
 * the embedded file.
 * @param signOfLifeMs how often the connection of the lock says something
 * @throws MigrationLockError when that takes longer, or when the lock is lost before the work is done; what `work` throws
 */
export async function withMigrationLock<T>(
  dataSource: DataSource,
  timeoutSeconds: number,
  work: () => Promise<T>,
  signOfLifeMs = SIGN_OF_LIFE_MS,
): Promise<T> {
  const runner = dataSource.createQueryRunner();
  try {
    await provideRow(runner);
    await runner.startTransaction();
    try {
      await lock(runner, performance.now() + timeoutSeconds * SECOND_MS);
      return await whileHeld(runner, signOfLifeMs, work);
    } finally {
      // A connection that was lost has given it back, and must not hide why the work failed.
      await runner.rollbackTransaction().catch(() => undefined);
    }
  } finally {
    await runner.release();
  }
}

/** Another replica may begin as soon as the lock is lost, so this one must not go on as if nothing were. */
async function whileHeld<T>(runner: QueryRunner, everyMs: number, work: () => Promise<T>): Promise<T> {
  const done = new AbortController();
  const lost = async (): Promise<never> => {
    for (;;) {
      await sleep(everyMs, undefined, { signal: done.signal });
      await runner.query('SELECT 1').catch(() => takeAgain(runner));
    }
  };
  try {
    return await Promise.race([work(), lost()]);
  } finally {
    done.abort();
  }
}

/** A tablet of Vitess ends transactions that take long, and leaves their connection. */
async function takeAgain(runner: QueryRunner): Promise<void> {
  try {
    await runner.rollbackTransaction();
    await runner.startTransaction();
    await lock(runner, performance.now());
  } catch {
    throw new MigrationLockError(
      'The connection that holds the lock on migrations was lost: another replica may migrate now.',
    );
  }
}

/** Makes table and row where they are missing. Only that needs a right to create tables. */
async function provideRow(runner: QueryRunner): Promise<void> {
  const found = await runner.query(`SELECT name FROM ${TABLE} WHERE name = ?`, [ROW]).catch(async (error) => {
    if (!isMissingTable(error)) {
      throw error;
    }
    await runner.query(`CREATE TABLE IF NOT EXISTS ${TABLE} (name varchar(32) NOT NULL PRIMARY KEY)`);
    return [];
  });
  if ((found as unknown[]).length === 0) {
    await runner.query(`INSERT IGNORE INTO ${TABLE} (name) VALUES (?)`, [ROW]).catch((error: unknown) => {
      // Another replica has made the row, and holds it.
      if (!isLockTimeout(error)) {
        throw error;
      }
    });
  }
}

/** A statement waits for `lockWaitSeconds` at the most. */
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
