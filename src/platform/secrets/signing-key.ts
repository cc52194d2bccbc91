import { createPrivateKey, type KeyObject } from 'node:crypto';
import { isJsonObject } from '#engine/json';

/** Size of RSA keys in bits. Minimum as in NIST SP 800-57; maximum because signing time grows with the cube of the size. */
const RSA_BITS = { min: 2_048, max: 4_096 };

/**
 * Reports whether a key has a supported size.
 * @param bits size of the RSA modulus; undefined for other keys, whose curve determines the size
 */
export function isRsaSize(bits: number | undefined): boolean {
  return bits === undefined || (bits >= RSA_BITS.min && bits <= RSA_BITS.max);
}

/** Maximum length of a private key, in characters. An RSA key of 4,096 bits has 3,300 in PEM format. */
export const PRIVATE_KEY_MAX_LENGTH = 16_384;
const KEY_ID = /^[\x20-\x7e]{1,255}$/;
const RSA_ALGORITHMS: readonly string[] = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'];
/** Algorithms by curve (RFC 7518, section 3.4). */
const EC_ALGORITHMS: Readonly<Record<string, string>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};

export interface SigningKey {
  /** PKCS#8 in PEM, regardless of the original format. */
  privateKey: string;
  /** Algorithm (RFC 7518, section 3.1; RFC 8037), as named by a JWK or derived from the key. */
  algorithm: string;
  keyId: string | null;
}

/**
 * Reads a private key in PEM format (PKCS#8, PKCS#1 or SEC 1, not encrypted) or a JWK (RFC 7517) as JSON. Supports RSA with
 * 2,048 to 4,096 bits, EC on P-256, P-384 or P-521, and Ed25519.
 * @returns undefined for anything else
 */
export function readSigningKey(text: string): SigningKey | undefined {
  if (text.length > PRIVATE_KEY_MAX_LENGTH) {
    return undefined;
  }
  try {
    return text.trimStart().startsWith('{') ? fromJwk(text) : signingKey(createPrivateKey(text));
  } catch {
    // Errors of the parser are dropped, because they could quote the key.
    return undefined;
  }
}

function fromJwk(text: string): SigningKey | undefined {
  const jwk: unknown = JSON.parse(text);
  if (!isJsonObject(jwk)) {
    return undefined;
  }
  const { alg, kid, use } = jwk;
  const key = signingKey(createPrivateKey({ key: jwk, format: 'jwk' }), alg);
  const isForSigning = use === undefined || use === 'sig';
  const hasKeyId = typeof kid === 'string' && kid !== '';
  if (key === undefined || !isForSigning || (hasKeyId && !KEY_ID.test(kid))) {
    return undefined;
  }
  return { ...key, keyId: hasKeyId ? kid : null };
}

function signingKey(key: KeyObject, wanted?: unknown): SigningKey | undefined {
  const possible = algorithmsOf(key);
  const algorithm = wanted === undefined ? possible[0] : possible.find((name) => name === wanted);
  if (algorithm === undefined) {
    return undefined;
  }
  return { privateKey: key.export({ type: 'pkcs8', format: 'pem' }).toString(), algorithm, keyId: null };
}

/** Returns the possible algorithms of a key, beginning with the default. */
function algorithmsOf({ asymmetricKeyType, asymmetricKeyDetails = {} }: KeyObject): readonly string[] {
  const { modulusLength = 0, namedCurve = '' } = asymmetricKeyDetails;
  switch (asymmetricKeyType) {
    case 'rsa':
      return isRsaSize(modulusLength) ? RSA_ALGORITHMS : [];
    case 'ec':
      return [EC_ALGORITHMS[namedCurve] ?? []].flat();
    case 'ed25519':
      return ['EdDSA'];
    default:
      return [];
  }
}
