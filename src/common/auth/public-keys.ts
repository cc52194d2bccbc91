import { KeyObject } from 'node:crypto';
import {
  createLocalJWKSet,
  errors,
  type CryptoKey,
  type JSONWebKeySet,
  type JWSHeaderParameters,
} from 'jose';
import { AuthenticationRequiredError, KeySourceUnavailableError } from './auth.errors.js';

const RSA_MIN_BITS = 2_048; // RFC 7518, sections 3.3 and 3.5

/** One key set of an issuer, ready to pick the key of a token from. */
export class PublicKeys {
  private readonly select: ReturnType<typeof createLocalJWKSet>;
  private readonly ids: ReadonlySet<string | undefined>;
  private readonly pems = new WeakMap<CryptoKey, string>();

  /**
   * @param keySet JSON Web Key Set (RFC 7517)
   * @throws JOSEError when it is malformed
   */
  constructor(keySet: JSONWebKeySet) {
    this.select = createLocalJWKSet(keySet);
    this.ids = new Set(keySet.keys.map(({ kid }) => kid));
  }

  /** Whether a newer key set could hold the key of this header: it names one that is not here. */
  lacks({ kid }: JWSHeaderParameters): boolean {
    return kid !== undefined && !this.ids.has(kid);
  }

  /**
   * @returns the only key that fits kid and alg of the header, SPKI in PEM
   * @throws AuthenticationRequiredError when none fits, several fit, or an RSA key is too short
   * @throws KeySourceUnavailableError when the issuer publishes the key in a broken form
   */
  async pemFor(header: JWSHeaderParameters): Promise<string> {
    const key = await this.select(header).catch((cause: unknown) => {
      throw cause instanceof errors.JWKSNoMatchingKey || cause instanceof errors.JWKSMultipleMatchingKeys
        ? new AuthenticationRequiredError('unknown_key', { cause })
        : new KeySourceUnavailableError({ cause });
    });
    const known = this.pems.get(key);
    if (known !== undefined) {
      return known;
    }
    const pem = toPem(key);
    this.pems.set(key, pem);
    return pem;
  }
}

function toPem(key: CryptoKey): string {
  const publicKey = KeyObject.from(key);
  if ((publicKey.asymmetricKeyDetails?.modulusLength ?? RSA_MIN_BITS) < RSA_MIN_BITS) {
    throw new AuthenticationRequiredError('unknown_key');
  }
  return publicKey.export({ type: 'spki', format: 'pem' }).toString();
}
