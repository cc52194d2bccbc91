import type { DataSource } from 'typeorm';
import { Clock } from '../common/clock.js';
import { bindSecrets, hasUnbound } from '../common/secrets/rotate-secrets.js';
import { SecretCipher, SecretUnreadableError, type SecretKey } from '../common/secrets/secret-cipher.js';
import { EnvError } from '../config/env.js';
import { MigrationStepEntity } from './migration-step.entity.js';

const STEP = 'bind-secrets';

/**
 * Binds the client secrets of an earlier release to where they may be sent, once for a database: from then on such values are
 * refused. Who writes the database can delete the note of it; only a rotation to a new key ends that (docs/security.md). Only
 * while the migration lock is held.
 * @throws EnvError when a secret is stored and SECRETS_KEYS cannot open it
 */
export async function bindStoredSecrets({ manager }: DataSource, keys: readonly SecretKey[]): Promise<void> {
  if (await manager.existsBy(MigrationStepEntity, { name: STEP })) {
    return;
  }
  try {
    await bindSecrets(manager, new SecretCipher(keys));
  } catch (error) {
    throw error instanceof SecretUnreadableError ? cannotBind(error) : error;
  }
  const step = { name: STEP, doneAt: new Clock().now() };
  // Where two did it at once, both are right: a secret is replaced only while it is the one that was read.
  await manager.createQueryBuilder().insert().orIgnore().into(MigrationStepEntity).values(step).execute();
}

function cannotBind({ rowId = 'unknown' }: SecretUnreadableError): EnvError {
  return new EnvError([
    `SECRETS_KEYS is required to seal the stored client secrets anew, with the keys of the release before: that of system ${rowId} cannot be opened. Where it is damaged, set client_secret of this row of systems to NULL and enter it again later`,
  ]);
}

/**
 * Makes sure that the step was done where there is something to do.
 * @throws EnvError which says what to do
 */
export async function checkSecretsAreBound({ manager }: DataSource): Promise<void> {
  const isDone = await manager.existsBy(MigrationStepEntity, { name: STEP });
  if (!isDone && (await hasUnbound(manager))) {
    throw new EnvError([
      'SECRETS_KEYS must be given to "npm run migration:run": stored client secrets have to be sealed anew',
    ]);
  }
}
