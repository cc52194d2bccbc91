import type { DataSource } from 'typeorm';
import { withMigrationLock } from './migration-lock.js';
import { isEmbedded } from './row-locks.js';
import { withPatience } from './server-pool.js';

/**
 * Runs the pending migrations while no other replica does: the later one waits and finds nothing left to do.
 * @param lockTimeoutSeconds how long to wait for the other one
 * @returns names of the migrations that ran
 * @throws MigrationLockError when the other one takes too long
 */
export async function migrate(dataSource: DataSource, lockTimeoutSeconds: number): Promise<string[]> {
  const run = async (): Promise<string[]> => (await dataSource.runMigrations()).map(({ name }) => name);
  return isEmbedded(dataSource)
    ? run()
    : withPatience(dataSource, () => withMigrationLock(dataSource, lockTimeoutSeconds, run));
}
