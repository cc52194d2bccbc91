import { DEFAULT_CIPHERS, type SecureContextOptions } from 'node:tls';

/** What the connections of one party, and no others, are opened with. Plain data for workers. */
export interface TlsMaterial {
  /** Application of the party; without one only the rules for all applications hold. */
  readonly app?: string;
  /** Certificates (PEM) of the authorities that are trusted, in place of the built-in ones. */
  readonly ca?: string;
  /** Certificate of the client and its chain (PEM), shown where the server asks for it. */
  readonly cert?: string;
  /** Its private key (PEM): a secret. */
  readonly key?: string;
}

/** Text that is equal for equal material, to be hashed beside other parts of a key: it holds the private key. */
export function materialText({ app, ca, cert, key }: TlsMaterial = {}): readonly (string | null)[] {
  return [app ?? null, ca ?? null, cert ?? null, key ?? null];
}

/**
 * Without DHE and the largest fields of RFC 7919: there the server chooses the group, and one of 10,000 bits
 * takes more than half a second of the thread before the certificate is looked at.
 */
export const KEY_AGREEMENT: Pick<SecureContextOptions, 'ciphers' | 'ecdhCurve'> = {
  ciphers: `${DEFAULT_CIPHERS}:!kDHE`,
  ecdhCurve: 'X25519:prime256v1:secp384r1:secp521r1',
};
