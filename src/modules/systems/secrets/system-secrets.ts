import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { SecretCipher, type SecretPlace } from '../../../common/secrets/secret-cipher.js';
import type { SystemEntity } from '../storage/system.entity.js';

/** A system as far as its secret is bound to it: its row, and where and as whom the secret is sent. */
export type SecretHolder = Pick<
  SystemEntity,
  'id' | 'baseUrl' | 'identityProviderUrl' | 'clientId' | 'authorizationType'
>;

/** The client secrets of systems: sealed for the row and the connection they stand in, opened only to be used. */
@Injectable()
export class SystemSecrets {
  constructor(private readonly cipher: SecretCipher) {}

  /** Seals a client secret for the row and the connection of a system. */
  seal(system: SecretHolder, secret: string): string {
    return this.cipher.seal(secret, placeOf(system));
  }

  /**
   * The client secret of a system, for the call that is about to be made to the very connection that is given.
   * @throws SecretUnreadableError when it cannot be opened, or was sealed for another connection
   */
  open(system: SecretHolder, sealed: string): string {
    return this.cipher.open(sealed, placeOf(system));
  }

  /**
   * A stored secret for the connection that its system is about to get; whether it may go there is for the caller to say.
   * @throws SecretUnreadableError when it cannot be opened for the connection before
   */
  rebind(before: SecretHolder, after: SecretHolder, sealed: string): string {
    const [from, to] = [placeOf(before), placeOf(after)];
    return JSON.stringify(from) === JSON.stringify(to)
      ? sealed
      : this.cipher.seal(this.cipher.open(sealed, from), to);
  }

  /**
   * Whether a system holds this very secret; `null` is no secret.
   * @throws SecretUnreadableError when the stored one cannot be opened
   */
  matches(system: SecretHolder & Pick<SystemEntity, 'clientSecret'>, secret: string | null): boolean {
    const sealed = system.clientSecret;
    if (sealed === null || secret === null) {
      return sealed === secret;
    }
    const stored = Buffer.from(this.open(system, sealed));
    const given = Buffer.from(secret);
    return stored.length === given.length && timingSafeEqual(stored, given);
  }
}

/** The order is that of the columns in sealed-columns.ts. */
function placeOf({
  id,
  baseUrl,
  identityProviderUrl,
  clientId,
  authorizationType,
}: SecretHolder): SecretPlace {
  const binding = [baseUrl, identityProviderUrl, clientId, authorizationType];
  return { table: 'systems', rowId: id, column: 'client_secret', binding };
}
