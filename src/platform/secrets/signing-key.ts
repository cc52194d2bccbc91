import { createPrivateKey, type KeyObject } from 'node:crypto';
import { isJsonObject } from '#engine/json';

/** Bits of keys that we sign with (NIST SP 800-57 for the least of them); the time for a signature grows with their cube. */
const RSA_BITS = { min: 2_048, max: 4_096 };

/** @param bits of the modulus; undefined of a key that has none, whose size its curve says */
export function isRsaSize(bits: number | undefined): boolean {
  return bits === undefined || (bits >= RSA_BITS.min && bits <= RSA_BITS.max);
}

/** Longest text of a private key, in characters: an RSA key of 4,096 bits has 3,300 as PEM. */
export const PRIVATE_KEY_MAX_LENGTH = 16_384;
const KEY_ID = /^[\x20-\x7e]{1,255}$/;
const RSA_ALGORITHMS: readonly string[] = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'];
/** RFC 7518, section 3.4. */
const EC_ALGORITHMS: Readonly<Record<string, string>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};

export interface SigningKey {
  /** PKCS#8 in PEM, the same text whatever form the key came in. */
  privateKey: string;
  /** Its algorithm (RFC 7518, section 3.1; RFC 8037): of a JWK the one that it names. */
  algorithm: string;
  keyId: string | null;
}

/**
 * Reads a private key: PEM (PKCS#8, PKCS#1 or SEC 1, not encrypted), or a JWK (RFC 7517) as JSON text. RSA of 2,048 to 4,096 bits,
 * EC on P-256, P-384 or P-521, or Ed25519.
 * @returns undefined for anything else
 */
export function readSigningKey(text: string): SigningKey | undefined {
  if (text.length > PRIVATE_KEY_MAX_LENGTH) {
    return undefined;
  }
  try {
    return text.trimStart().startsWith('{') ? fromJwk(text) : signingKey(createPrivateKey(text));
  } catch {
    // What the parser says could quote the key.
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

/** The first one is taken where the key names none. */
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
