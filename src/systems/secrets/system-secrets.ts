import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { SecretCipher, type SecretPlace } from '../../platform/secrets/secret-cipher.js';
import type { SystemEntity } from '../storage/system.entity.js';

/** Secrets of a system. `clientSecret` is the client secret, the private key or the API key. */
export const SECRETS = ['clientSecret', 'clientKey', 'headers'] as const;
/** One of {@link SECRETS}. */
export type SecretName = (typeof SECRETS)[number];

/** Columns that each secret is bound to: destination, identity and trusted authorities. In the order of sealed-columns.ts. */
const BOUND_COLUMNS = {
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

/** Columns of a system to which its secrets are bound. */
type SecretHolder = Pick<SystemEntity, 'id' | (typeof BOUND_COLUMNS)[SecretName][number]>;

function placeOf(name: SecretName, system: SecretHolder): SecretPlace {
  const binding = BOUND_COLUMNS[name].map((property) => system[property]);
  return { table: 'systems', rowId: system.id, column: COLUMNS[name], binding };
}

/** Creates a record of all secrets of a system. */
export function eachSecret(make: (name: SecretName) => string | null): Record<SecretName, string | null> {
  return { clientSecret: make('clientSecret'), clientKey: make('clientKey'), headers: make('headers') };
}

/** Seals secrets for the row and connection of their system, and opens them for calls. */
@Injectable()
export class SystemSecrets {
  constructor(private readonly cipher: SecretCipher) {}

  /** Seals a secret for the row and the connection of a system. */
  seal(system: SecretHolder, secret: string, name: SecretName = 'clientSecret'): string {
    return this.cipher.seal(secret, placeOf(name, system));
  }

  /**
   * Opens a secret of a system. Use it only for the next call to this connection.
   * @throws SecretUnreadableError when it cannot be opened or was sealed for another connection
   */
  open(system: SecretHolder, sealed: string, name: SecretName = 'clientSecret'): string {
    return this.cipher.open(sealed, placeOf(name, system));
  }

  /**
   * Reseals a stored secret for a new connection of its system. The caller must check that the secret may be sent there.
   * @throws SecretUnreadableError when it cannot be opened for the old connection
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

  /** Returns whether a system has exactly this secret; `null` means no secret. @throws SecretUnreadableError */
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
