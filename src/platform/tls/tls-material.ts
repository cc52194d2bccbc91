import { DEFAULT_CIPHERS, type SecureContextOptions } from 'node:tls';

/** TLS settings for connections to one party. Plain data that can be passed to workers. */
export interface TlsMaterial {
  /** Application of the party, whose egress rules apply too. */
  readonly app?: string;
  /** Trusted CA certificates (PEM), which replace the built-in ones. */
  readonly ca?: string;
  /** Client certificate and its chain (PEM), sent if the server requests it. */
  readonly cert?: string;
  /** Private key (PEM) of the client certificate. Secret. */
  readonly key?: string;
}

/** Returns parts that are equal for equal material. Use them only as input of a hash, because they contain the private key. */
export function materialText({ app, ca, cert, key }: TlsMaterial = {}): readonly (string | null)[] {
  return [app ?? null, ca ?? null, cert ?? null, key ?? null];
}

/**
 * Key agreement with elliptic curves only. With DHE the server chooses the group, and one of 10,000 bits blocks the thread for
 * more than half a second before the certificate is checked.
 */
export const KEY_AGREEMENT: Pick<SecureContextOptions, 'ciphers' | 'ecdhCurve'> = {
  ciphers: `${DEFAULT_CIPHERS}:!kDHE`,
  ecdhCurve: 'X25519:prime256v1:secp384r1:secp521r1',
};
