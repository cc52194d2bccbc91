import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InternalError } from '../errors/domain.error.js';

const FORMAT = 'svc1';
const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Where a sealed value lives. It can be opened only for this very place. */
export interface SecretPlace {
  table: string;
  rowId: string;
  column: string;
}

/** One 256-bit key. */
export interface SecretKey {
  id: string;
  key: Buffer;
}

/** A sealed value cannot be opened: it was changed or moved, or its key is not the one configured. */
export class SecretUnreadableError extends InternalError {
  readonly code = 'SECRET_UNREADABLE';
  constructor() {
    // One text for every cause: a difference would tell an attacker how far a forgery got.
    super('A stored secret cannot be read.');
  }
}

/**
 * Seals secrets with AES-256-GCM (NIST SP 800-38D), bound to table, row and column. A sealed value reads
 * `svc1.<key id>.<iv>.<tag>.<ciphertext>`, the last three base64url. The first key seals, every key opens.
 */
@Injectable()
export class SecretCipher {
  private readonly keys: ReadonlyMap<string, Buffer>;

  /** @param secretKeys at least one key, the current one first */
  constructor(private readonly secretKeys: readonly SecretKey[]) {
    this.keys = new Map(secretKeys.map(({ id, key }) => [id, key]));
  }

  /** The keys that can open values, the current one first. */
  get keyIds(): string[] {
    return this.secretKeys.map(({ id }) => id);
  }

  /** Seals `plain` under the current key for `place`. */
  seal(plain: string, place: SecretPlace): string {
    const [current] = this.secretKeys;
    if (current === undefined) {
      throw new SecretUnreadableError();
    }
    return this.sealWith(current, plain, place);
  }

  /** As `seal`, under the key named, which must be configured. */
  sealWith(secretKey: SecretKey, plain: string, place: SecretPlace): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(ALGORITHM, secretKey.key, iv, { authTagLength: TAG_BYTES });
    cipher.setAAD(associatedData(secretKey.id, place));
    const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
    const parts = [iv, cipher.getAuthTag(), sealed].map((part) => part.toString('base64url'));
    return [FORMAT, secretKey.id, ...parts].join('.');
  }

  /**
   * Opens a value that was sealed for `place`.
   * @throws SecretUnreadableError when it was altered, belongs elsewhere or its key is unknown
   */
  open(sealed: string, place: SecretPlace): string {
    const [format, keyId = '', iv = '', tag = '', text = '', ...rest] = sealed.split('.');
    const key = this.keys.get(keyId);
    if (format !== FORMAT || key === undefined || rest.length > 0) {
      throw new SecretUnreadableError();
    }
    try {
      const decipher = createDecipheriv(ALGORITHM, key, Buffer.from(iv, 'base64url'), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(associatedData(keyId, place));
      decipher.setAuthTag(Buffer.from(tag, 'base64url'));
      // Nothing of update() may be used before final() has checked the tag.
      return Buffer.concat([decipher.update(Buffer.from(text, 'base64url')), decipher.final()]).toString(
        'utf8',
      );
    } catch {
      throw new SecretUnreadableError();
    }
  }
}

/** What every value sealed with a key begins with. */
export function sealedPrefix(keyId: string): string {
  return `${FORMAT}.${keyId}.`;
}

/** Id of the key that sealed a value. */
export function sealedKeyId(sealed: string): string {
  return sealed.split('.')[1] ?? '';
}

// Each part carries its length, so no two different places give the same bytes.
function associatedData(keyId: string, { table, rowId, column }: SecretPlace): Buffer {
  return Buffer.from([FORMAT, keyId, table, rowId, column].map((part) => `${part.length}:${part}`).join('|'));
}
