import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { SecretCipher, type SecretPlace } from '../../common/secrets/secret-cipher.js';

const placeOf = (systemId: string): SecretPlace => ({
  table: 'systems',
  rowId: systemId,
  column: 'client_secret',
});

/** The client secrets of systems: sealed for the row they stand in, opened only to be used. */
@Injectable()
export class SystemSecrets {
  constructor(private readonly cipher: SecretCipher) {}

  /** Seals a client secret for the row of a system. */
  seal(systemId: string, secret: string): string {
    return this.cipher.seal(secret, placeOf(systemId));
  }

  /**
   * The client secret of a system, for the call that is about to be made.
   * @throws SecretUnreadableError when it cannot be opened
   */
  open(systemId: string, sealed: string): string {
    return this.cipher.open(sealed, placeOf(systemId));
  }

  /**
   * Whether a system holds this very secret; `null` is no secret.
   * @throws SecretUnreadableError when the stored one cannot be opened
   */
  matches(systemId: string, sealed: string | null, secret: string | null): boolean {
    if (sealed === null || secret === null) {
      return sealed === secret;
    }
    const stored = Buffer.from(this.cipher.open(sealed, placeOf(systemId)));
    const given = Buffer.from(secret);
    return stored.length === given.length && timingSafeEqual(stored, given);
  }
}
