import { DEFAULT_CIPHERS, type SecureContextOptions } from 'node:tls';

/**
 * How a client agrees on keys with a server that it does not trust. With DHE (RFC 5246, section 7.4.3) the server chooses the
 * group: one of 10,000 bits takes more than half a second of the thread before the certificate is looked at. So do the
 * largest finite fields of RFC 7919. Servers of today have elliptic curves.
 */
export const KEY_AGREEMENT: Pick<SecureContextOptions, 'ciphers' | 'ecdhCurve'> = {
  ciphers: `${DEFAULT_CIPHERS}:!kDHE`,
  ecdhCurve: 'X25519:prime256v1:secp384r1:secp521r1',
};
