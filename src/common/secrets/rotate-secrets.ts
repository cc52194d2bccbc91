import type { EntityManager } from 'typeorm';
import { isUnbound, sealedKeyId, type SecretCipher } from './secret-cipher.js';
import { replaceSealed, sealedValues } from './sealed-columns.js';

const BATCH = 200;

/** What a rotation did, in numbers of stored values. */
export interface Rotation {
  resealed: number;
  alreadyCurrent: number;
}

/**
 * Seals every stored secret anew with the current key. May be stopped at any time and started again: what is already
 * under the current key is left alone, and each value is replaced only while it is the one that was read.
 * @throws SecretUnreadableError when a value cannot be opened with the configured keys
 */
export async function rotateSecrets(manager: EntityManager, cipher: SecretCipher): Promise<Rotation> {
  const [current] = cipher.keyIds;
  const rotation: Rotation = { resealed: 0, alreadyCurrent: 0 };
  for await (const batch of sealedValues(manager, BATCH)) {
    for (const value of batch) {
      if (sealedKeyId(value.sealed) === current) {
        rotation.alreadyCurrent += 1;
        continue;
      }
      const next = cipher.seal(cipher.open(value.sealed, value.place), value.place);
      await replaceSealed(manager, value, next);
      rotation.resealed += 1;
    }
  }
  return rotation;
}

/**
 * Seals every secret of a release before bindings anew, bound to what stands beside it now. Like a rotation it may be stopped
 * and started again.
 * @returns how many
 * @throws SecretUnreadableError when a value cannot be opened with the configured keys
 */
export async function bindSecrets(manager: EntityManager, cipher: SecretCipher): Promise<number> {
  let bound = 0;
  for await (const batch of sealedValues(manager, BATCH)) {
    for (const value of batch.filter(({ sealed }) => isUnbound(sealed))) {
      const { binding: _none, ...unbound } = value.place;
      await replaceSealed(manager, value, cipher.seal(cipher.open(value.sealed, unbound), value.place));
      bound += 1;
    }
  }
  return bound;
}

/** Whether a secret of a release before bindings is stored. */
export async function hasUnbound(manager: EntityManager): Promise<boolean> {
  for await (const batch of sealedValues(manager, BATCH)) {
    if (batch.some(({ sealed }) => isUnbound(sealed))) {
      return true;
    }
  }
  return false;
}
