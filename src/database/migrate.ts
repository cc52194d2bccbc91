import type { DataSource } from 'typeorm';
import type { SecretKey } from '../common/secrets/secret-cipher.js';
import { StartError } from '../config/start.error.js';
import { bindStoredSecrets } from './bind-stored-secrets.js';
import { withPatience } from './server-pool.js';
import { isEmbedded } from './row-locks.js';

const LOCK_NAME = 'svc-platform:migrations';

/** Another replica held the migration lock for longer than MIGRATIONS_LOCK_TIMEOUT_SECONDS. */
export class MigrationLockError extends StartError {
  override readonly name = 'MigrationLockError';
}

/**
 * Runs the pending migrations while no other replica does: the later one waits and finds nothing left to do.
 * @param lockTimeoutSeconds how long to wait for the other one
 * @param secretKeys for secrets that a migration has to seal anew; none where none is stored
 * @returns names of the migrations that ran
 * @throws EnvError when such a key is missing; MigrationLockError when the other one takes too long
 */
export async function migrate(
  dataSource: DataSource,
  lockTimeoutSeconds: number,
  secretKeys: readonly SecretKey[] = [],
): Promise<string[]> {
  const run = async (): Promise<string[]> => {
    const names = (await dataSource.runMigrations()).map(({ name }) => name);
    await bindStoredSecrets(dataSource, secretKeys);
    return names;
  };
  return isEmbedded(dataSource)
    ? run()
    : withPatience(dataSource, () => locked(dataSource, lockTimeoutSeconds, run));
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
      // A connection that was lost has given it back, and must not hide why the work failed.
      await runner.query('SELECT RELEASE_LOCK(?)', [LOCK_NAME]).catch(() => undefined);
    }
  } finally {
    await runner.release();
  }
}
