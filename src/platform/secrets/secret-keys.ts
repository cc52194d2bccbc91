import type { EntityManager } from 'typeorm';
import { EnvError } from '../config/env.js';
import type { SecretCipher, SecretKey } from './secret-cipher.js';
import { isKeyInUse } from './sealed-columns.js';
import { SecretKeyEntity } from './secret-key.entity.js';

const CANARY = 'svc-platform canary';

const placeOf = (id: string) => ({ table: 'secret_keys', rowId: id, column: 'canary' });

/**
 * Checks that every key that stored values were sealed with is configured correctly. Records new keys, and deletes the
 * records of unused keys that are no longer configured.
 * @throws EnvError with the ids of missing or wrong keys, never a key
 */
export async function checkSecretKeys(
  manager: EntityManager,
  cipher: SecretCipher,
  keys: readonly SecretKey[],
  now: Date,
): Promise<void> {
  const recorded = await deleteUnused(manager, cipher);
  const wrong = recorded.filter((row) => !opens(cipher, row)).map(({ id }) => id);
  if (wrong.length > 0) {
    throw new EnvError([
      `SECRETS_KEYS lacks the key ${wrong.join(', ')} that stored secrets were sealed with`,
    ]);
  }
  const known = new Set(recorded.map(({ id }) => id));
  const added = keys
    .filter(({ id }) => !known.has(id))
    .map((key) => ({ id: key.id, canary: cipher.sealWith(key, CANARY, placeOf(key.id)), createdAt: now }));
  if (added.length > 0) {
    // Another replica may be recording the same key.
    await manager.createQueryBuilder().insert().orIgnore().into(SecretKeyEntity).values(added).execute();
  }
}

async function deleteUnused(manager: EntityManager, cipher: SecretCipher): Promise<SecretKeyEntity[]> {
  const kept: SecretKeyEntity[] = [];
  for (const row of await manager.find(SecretKeyEntity)) {
    if (cipher.keyIds.includes(row.id) || (await isKeyInUse(manager, row.id))) {
      kept.push(row);
    } else {
      await manager.delete(SecretKeyEntity, { id: row.id });
    }
  }
  return kept;
}

function opens(cipher: SecretCipher, row: SecretKeyEntity): boolean {
  try {
    return cipher.open(row.canary, placeOf(row.id)) === CANARY;
  } catch {
    return false;
  }
}
