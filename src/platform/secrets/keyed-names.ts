import { createHmac } from 'node:crypto';
import type { SecretKey } from './secret-cipher.js';

const PURPOSE = 'svc-platform names';
const NAME_BYTES = 16;

/**
 * Derives opaque names from texts with a keyed hash (HMAC, RFC 2104). Equal texts have equal names under the same key, and
 * names cannot be guessed without the key.
 */
export class KeyedNames {
  private readonly key: Buffer;

  /** @param secretKeys names are derived with the first key */
  constructor([current]: readonly SecretKey[]) {
    // A derived key, so that the encryption key itself is used for nothing that others see.
    this.key = createHmac('sha256', current?.key ?? Buffer.alloc(0))
      .update(PURPOSE)
      .digest();
  }

  /** @returns 22 characters of base64url */
  of(text: string): string {
    return createHmac('sha256', this.key).update(text).digest().subarray(0, NAME_BYTES).toString('base64url');
  }
}
