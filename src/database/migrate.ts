import type { DataSource } from 'typeorm';
import type { SecretKey } from '../common/secrets/secret-cipher.js';
import { bindStoredSecrets } from './bind-stored-secrets.js';
import { withMigrationLock } from './migration-lock.js';
import { isEmbedded } from './row-locks.js';
import { withPatience } from './server-pool.js';

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
    : withPatience(dataSource, () => withMigrationLock(dataSource, lockTimeoutSeconds, run));
}
