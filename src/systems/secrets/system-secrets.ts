import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { SecretCipher, type SecretPlace } from '../../platform/secrets/secret-cipher.js';
import type { SystemEntity } from '../storage/system.entity.js';

/** The secrets of a system; `clientSecret` is the client secret, the private key or the API key. */
export const SECRETS = ['clientSecret', 'clientKey', 'headers'] as const;
/** One of {@link SECRETS}. */
export type SecretName = (typeof SECRETS)[number];

/** What each secret is bound to: where and as whom it is sent, and who is trusted there. In the order of sealed-columns.ts. */
const BOUND = {
  clientSecret: [
    'baseUrl',
    'identityProviderUrl',
    'clientId',
    'authorizationType',
    'caCertificates',
    'credentialOptions',
  ],
  clientKey: ['baseUrl', 'identityProviderUrl', 'caCertificates', 'clientCertificate'],
  headers: ['baseUrl', 'identityProviderUrl', 'caCertificates', 'headerNames'],
} as const satisfies Record<SecretName, readonly (keyof SystemEntity)[]>;
const COLUMNS = { clientSecret: 'client_secret', clientKey: 'tls_key', headers: 'headers' } as const;

/** A system as far as its secrets are bound to it, and to its row. */
type SecretHolder = Pick<SystemEntity, 'id' | (typeof BOUND)[SecretName][number]>;

function placeOf(name: SecretName, system: SecretHolder): SecretPlace {
  const binding = BOUND[name].map((property) => system[property]);
  return { table: 'systems', rowId: system.id, column: COLUMNS[name], binding };
}

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
    return this.cipher.seal(secret, placeOf(name, system));
  }

  /**
   * A secret of a system, for the call that is about to be made to the very connection that is given.
   * @throws SecretUnreadableError when it cannot be opened, or was sealed for another connection
   */
  open(system: SecretHolder, sealed: string, name: SecretName = 'clientSecret'): string {
    return this.cipher.open(sealed, placeOf(name, system));
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
    const [from, to] = [placeOf(name, before), placeOf(name, after)];
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
