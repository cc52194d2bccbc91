import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InternalError } from '../errors/domain.error.js';

/** Bound to its place alone: texts that are no secrets. */
const UNBOUND = 'svc1';
/** Bound to its place and to where it may be sent. */
const BOUND = 'svc2';
const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Where a sealed value lives. It can be opened only for this very place. */
export interface SecretPlace {
  table: string;
  rowId: string;
  column: string;
  /** What else it must stand beside, in a fixed order: for a client secret, where it goes. */
  binding?: readonly (string | null)[];
}

/** One 256-bit key. */
export interface SecretKey {
  id: string;
  key: Buffer;
}

/** A sealed value cannot be opened: it was changed or moved, or its key is not the one configured. */
export class SecretUnreadableError extends InternalError {
  readonly code = 'SECRET_UNREADABLE';

  /** @param rowId primary key of the row that it stands in; not part of the message */
  constructor(readonly rowId?: string) {
    // One text for every cause: a difference would tell an attacker how far a forgery got.
    super('A stored secret cannot be read.');
  }
}

/**
 * Seals secrets with AES-256-GCM (NIST SP 800-38D), bound to table, row, column and what the place is bound to. A sealed
 * value reads `svc2.<key id>.<iv>.<tag>.<ciphertext>` (`svc1` for a place without a binding), the last three base64url. The
 * first key seals, every key opens.
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
   * @throws SecretUnreadableError when it was altered, belongs elsewhere or its key is unknown
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
      // Nothing of update() may be used before final() has checked the tag.
      return Buffer.concat([decipher.update(Buffer.from(text, 'base64url')), decipher.final()]).toString(
        'utf8',
      );
    } catch {
      throw new SecretUnreadableError(place.rowId);
    }
  }
}

/** Id of the key that sealed a value. */
export function sealedKeyId(sealed: string): string {
  return sealed.split('.')[1] ?? '';
}

function formatOf({ binding }: SecretPlace): string {
  return binding === undefined ? UNBOUND : BOUND;
}

// Each part carries its length, so no two different places give the same bytes; none is not the same as empty.
function associatedData(keyId: string, place: SecretPlace): Buffer {
  const { table, rowId, column, binding = [] } = place;
  const parts = [formatOf(place), keyId, table, rowId, column, ...binding];
  return Buffer.from(parts.map((part) => (part === null ? '-' : `${part.length}:${part}`)).join('|'));
}
