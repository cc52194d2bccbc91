import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InternalError } from '../errors/domain.error.js';

/** Format without a binding, for texts that are not credentials. */
const UNBOUND = 'svc1';
/** Format with a binding, such as where a credential may be sent. */
const BOUND = 'svc2';
const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Where a sealed value is stored. It can be opened only for the same place. */
export interface SecretPlace {
  table: string;
  rowId: string;
  column: string;
  /** Further values that must be unchanged to open it, in a fixed order. For a client secret, where it is sent. */
  binding?: readonly (string | null)[];
}

/** One 256-bit key. */
export interface SecretKey {
  id: string;
  key: Buffer;
}

/** A sealed value cannot be opened: it was changed or moved, or its key is not configured. */
export class SecretUnreadableError extends InternalError {
  readonly code = 'SECRET_UNREADABLE';

  /** @param rowId primary key of its row; not part of the message */
  constructor(readonly rowId?: string) {
    // The same message for every cause, because differences would help an attacker to forge values.
    super('A stored secret cannot be read.');
  }
}

/**
 * Seals secrets with AES-256-GCM (NIST SP 800-38D). Table, row, column and binding are authenticated. A sealed value has the
 * format `svc2.<key id>.<iv>.<tag>.<ciphertext>` (`svc1` without a binding), with the last three parts in base64url. Values
 * are sealed with the first key and opened with any configured key.
 */
@Injectable()
export class SecretCipher {
  private readonly keys: ReadonlyMap<string, Buffer>;

  constructor(private readonly secretKeys: readonly SecretKey[]) {
    this.keys = new Map(secretKeys.map(({ id, key }) => [id, key]));
  }

  get keyIds(): string[] {
    return this.secretKeys.map(({ id }) => id);
  }

  seal(plain: string, place: SecretPlace): string {
    const [current] = this.secretKeys;
    if (current === undefined) {
      throw new SecretUnreadableError();
    }
    return this.sealWith(current, plain, place);
  }

  sealWith(secretKey: SecretKey, plain: string, place: SecretPlace): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(ALGORITHM, secretKey.key, iv, { authTagLength: TAG_BYTES });
    cipher.setAAD(associatedData(secretKey.id, place));
    const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
    const parts = [iv, cipher.getAuthTag(), sealed].map((part) => part.toString('base64url'));
    return [formatOf(place), secretKey.id, ...parts].join('.');
  }

  /**
   * Opens a value that was sealed for `place`.
   * @throws SecretUnreadableError when it was changed, belongs to another place or its key is unknown
   */
  open(sealed: string, place: SecretPlace): string {
    const [format, keyId = '', iv = '', tag = '', text = '', ...rest] = sealed.split('.');
    const key = this.keys.get(keyId);
    if (format !== formatOf(place) || key === undefined || rest.length > 0) {
      throw new SecretUnreadableError(place.rowId);
    }
    try {
      const decipher = createDecipheriv(ALGORITHM, key, Buffer.from(iv, 'base64url'), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(associatedData(keyId, place));
      decipher.setAuthTag(Buffer.from(tag, 'base64url'));
      // The output of update() must not be used before final() has checked the tag.
      return Buffer.concat([decipher.update(Buffer.from(text, 'base64url')), decipher.final()]).toString(
        'utf8',
      );
    } catch {
      throw new SecretUnreadableError(place.rowId);
    }
  }
}

/** Returns the id of the key that sealed a value. */
export function sealedKeyId(sealed: string): string {
  return sealed.split('.')[1] ?? '';
}

function formatOf({ binding }: SecretPlace): string {
  return binding === undefined ? UNBOUND : BOUND;
}

/** Encodes a place unambiguously: each part has its length as a prefix, and null differs from an empty text. */
function associatedData(keyId: string, place: SecretPlace): Buffer {
  const { table, rowId, column, binding = [] } = place;
  const parts = [formatOf(place), keyId, table, rowId, column, ...binding];
  return Buffer.from(parts.map((part) => (part === null ? '-' : `${part.length}:${part}`)).join('|'));
}
