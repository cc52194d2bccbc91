import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { SecretCipher, type SecretPlace } from '../../../common/secrets/secret-cipher.js';
import type { SystemEntity } from '../storage/system.entity.js';

/** A system as far as its secrets are bound to it: its row, where and as whom they are sent, and who is trusted there. */
export type SecretHolder = Pick<
  SystemEntity,
  | 'id'
  | 'baseUrl'
  | 'identityProviderUrl'
  | 'clientId'
  | 'authorizationType'
  | 'credentialOptions'
  | 'caCertificates'
  | 'clientCertificate'
  | 'headerNames'
>;

/** The secrets of a system; `clientSecret` is the client secret, the private key or the API key. */
export const SECRETS = ['clientSecret', 'clientKey', 'headers'] as const;
/** One of {@link SECRETS}. */
export type SecretName = (typeof SECRETS)[number];

/** Makes each secret of a system. */
export function eachSecret(make: (name: SecretName) => string | null): Record<SecretName, string | null> {
  return { clientSecret: make('clientSecret'), clientKey: make('clientKey'), headers: make('headers') };
}

/** The secrets of systems: sealed for the row and the connection they stand in, opened only to be used. */
@Injectable()
export class SystemSecrets {
  constructor(private readonly cipher: SecretCipher) {}

  /** Seals a secret for the row and the connection of a system. */
  seal(system: SecretHolder, secret: string, name: SecretName = 'clientSecret'): string {
    return this.cipher.seal(secret, PLACES[name](system));
  }

  /**
   * A secret of a system, for the call that is about to be made to the very connection that is given.
   * @throws SecretUnreadableError when it cannot be opened, or was sealed for another connection
   */
  open(system: SecretHolder, sealed: string, name: SecretName = 'clientSecret'): string {
    return this.cipher.open(sealed, PLACES[name](system));
  }

  /**
   * A stored secret for the connection that its system is about to get; whether it may go there is for the caller to say.
   * @throws SecretUnreadableError when it cannot be opened for the connection before
   */
  rebind(
    before: SecretHolder,
    after: SecretHolder,
    sealed: string,
    name: SecretName = 'clientSecret',
  ): string {
    const [from, to] = [PLACES[name](before), PLACES[name](after)];
    return JSON.stringify(from) === JSON.stringify(to)
      ? sealed
      : this.cipher.seal(this.cipher.open(sealed, from), to);
  }

  /** Whether a system holds this very secret; `null` is no secret. @throws SecretUnreadableError */
  matches(
    system: SecretHolder & Pick<SystemEntity, SecretName>,
    secret: string | null,
    name: SecretName = 'clientSecret',
  ): boolean {
    const sealed = system[name];
    if (sealed === null || secret === null) {
      return sealed === secret;
    }
    const stored = Buffer.from(this.open(system, sealed, name));
    const given = Buffer.from(secret);
    return stored.length === given.length && timingSafeEqual(stored, given);
  }
}

/** The order of a binding is that of the columns in sealed-columns.ts. */
const PLACES: Readonly<Record<SecretName, (system: SecretHolder) => SecretPlace>> = {
  clientSecret: ({ id, baseUrl, identityProviderUrl, clientId, authorizationType, ...rest }) => ({
    table: 'systems',
    rowId: id,
    column: 'client_secret',
    binding: [
      baseUrl,
      identityProviderUrl,
      clientId,
      authorizationType,
      rest.caCertificates,
      rest.credentialOptions,
    ],
  }),
  clientKey: ({ id, baseUrl, identityProviderUrl, caCertificates, clientCertificate }) => ({
    table: 'systems',
    rowId: id,
    column: 'tls_key',
    binding: [baseUrl, identityProviderUrl, caCertificates, clientCertificate],
  }),
  headers: ({ id, baseUrl, identityProviderUrl, caCertificates, headerNames }) => ({
    table: 'systems',
    rowId: id,
    column: 'headers',
    binding: [baseUrl, identityProviderUrl, caCertificates, headerNames],
  }),
};
