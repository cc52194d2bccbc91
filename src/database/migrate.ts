import type { DataSource } from 'typeorm';
import { StartError } from '../config/start.error.js';

const LOCK_NAME = 'svc-platform:migrations';

/** Another replica held the migration lock for longer than MIGRATIONS_LOCK_TIMEOUT_SECONDS. */
export class MigrationLockError extends StartError {
  override readonly name = 'MigrationLockError';
}

/**
 * Runs the pending migrations while no other replica does: the later one waits and finds nothing left to do.
 * @param lockTimeoutSeconds how long to wait for the other one
 * @returns names of the migrations that ran
 * @throws MigrationLockError when the other one takes too long
 */
export async function migrate(dataSource: DataSource, lockTimeoutSeconds: number): Promise<string[]> {
  const run = async (): Promise<string[]> => (await dataSource.runMigrations()).map(({ name }) => name);
  return dataSource.options.type === 'better-sqlite3' ? run() : locked(dataSource, lockTimeoutSeconds, run);
}

async function locked<T>(dataSource: DataSource, timeoutSeconds: number, work: () => Promise<T>): Promise<T> {
  // The lock belongs to a connection, so it is released even when this process dies.
  const runner = dataSource.createQueryRunner();
  try {
    const rows = (await runner.query('SELECT GET_LOCK(?, ?) AS granted', [LOCK_NAME, timeoutSeconds])) as {
      granted: unknown;
    }[];
    if (Number(rows[0]?.granted) !== 1) {
      throw new MigrationLockError('Another replica is still migrating the database.');
    }
    try {
      return await work();
    } finally {
      await runner.query('SELECT RELEASE_LOCK(?)', [LOCK_NAME]);
    }
  } finally {
    await runner.release();
  }
}
