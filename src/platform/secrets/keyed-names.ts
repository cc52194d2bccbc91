import { createHmac } from 'node:crypto';
import type { SecretKey } from './secret-cipher.js';

const PURPOSE = 'svc-platform names';
const NAME_BYTES = 16;

/**
 * Names for what others may see and must not guess: equal for equal texts under equal keys, and of no use to whoever tries texts without the
 * key (HMAC, RFC 2104).
 */
export class KeyedNames {
  private readonly key: Buffer;

  /** @param secretKeys the first one makes the names */
  constructor([current]: readonly SecretKey[]) {
    // A key of its own: that of the ciphers makes nothing that others see.
    this.key = createHmac('sha256', current?.key ?? Buffer.alloc(0))
      .update(PURPOSE)
      .digest();
  }

  /** @returns 22 characters of base64url */
  of(text: string): string {
    return createHmac('sha256', this.key).update(text).digest().subarray(0, NAME_BYTES).toString('base64url');
  }
}
