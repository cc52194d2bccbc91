import type { EntityManager } from 'typeorm';
import { sealedKeyId, SecretUnreadableError, type SecretCipher } from './secret-cipher.js';
import { replaceSealed, sealedValues, type SealedValue } from './sealed-columns.js';

const BATCH = 200;

/** What a rotation did, in numbers of stored values. */
export interface Rotation {
  resealed: number;
  alreadyCurrent: number;
  /** Rows, as `<table> <id>`, whose value cannot be opened with the configured keys: it is left as it is. */
  unreadable: string[];
}

/**
 * Seals every stored secret anew with the current key. The rotation may be stopped at any time and started again. A
 * secret under the current key is left alone. A value is replaced only while it is the one that was read.
 */
export async function rotateSecrets(manager: EntityManager, cipher: SecretCipher): Promise<Rotation> {
  const [current] = cipher.keyIds;
  const rotation: Rotation = { resealed: 0, alreadyCurrent: 0, unreadable: [] };
  for await (const batch of sealedValues(manager, BATCH)) {
    for (const value of batch) {
      if (sealedKeyId(value.sealed) === current) {
        rotation.alreadyCurrent += 1;
        continue;
      }
      const next = resealed(cipher, value);
      if (next === undefined) {
        rotation.unreadable.push(`${value.place.table} ${value.place.rowId}`);
        continue;
      }
      await replaceSealed(manager, value, next);
      rotation.resealed += 1;
    }
  }
  return rotation;
}

/** Undefined when the value cannot be opened: one that is damaged must not keep those behind it from their new key. */
function resealed(cipher: SecretCipher, { sealed, place }: SealedValue): string | undefined {
  try {
    return cipher.seal(cipher.open(sealed, place), place);
  } catch (error) {
    if (error instanceof SecretUnreadableError) {
      return undefined;
    }
    throw error;
  }
}
