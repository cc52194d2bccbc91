import { createRemoteJWKSet, errors, jwtVerify } from 'jose';
import { IdTokenError, type IdTokenFault } from './errors.js';

/** Signatures with public keys (RFC 7518, section 3.1; RFC 8037). Shared secrets and unsigned tokens are rejected. */
const ALGORITHMS = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ');
/** Clock tolerance. The clocks of users' machines are less accurate than those of servers. */
const TOLERANCE_SECONDS = 300;
const TIMEOUT_MS = 20_000;

const FAULTS: Readonly<Record<string, IdTokenFault>> = {
  iss: 'issuer',
  aud: 'audience',
  azp: 'audience',
  nonce: 'nonce',
};

/** Verifies ID tokens of one issuer for one client (OpenID Connect Core 1.0, section 3.1.3.7). */
export class IdTokenVerifier {
  private readonly keys: ReturnType<typeof createRemoteJWKSet>;

  constructor(
    private readonly issuer: string,
    private readonly clientId: string,
    keysUrl: string,
  ) {
    this.keys = createRemoteJWKSet(new URL(keysUrl), { timeoutDuration: TIMEOUT_MS });
  }

  /**
   * Verifies signature, issuer, audience and expiry; oidc-client-ts checks the nonce.
   * @throws IdTokenError
   * @throws TypeError when the keys cannot be read
   */
  async verify(token: string): Promise<void> {
    const { payload } = await jwtVerify(token, this.keys, {
      issuer: this.issuer,
      audience: this.clientId,
      algorithms: ALGORITHMS,
      requiredClaims: ['sub', 'iat', 'exp'],
      clockTolerance: TOLERANCE_SECONDS,
    }).catch((error: unknown) => {
      throw faultOf(error);
    });
    const isForMany = Array.isArray(payload.aud) && payload.aud.length > 1;
    if ((isForMany || payload['azp'] !== undefined) && payload['azp'] !== this.clientId) {
      throw new IdTokenError('audience');
    }
  }
}

function faultOf(error: unknown): Error {
  if (error instanceof errors.JWTExpired) {
    return new IdTokenError('expiry', { cause: error });
  }
  if (error instanceof errors.JWTClaimValidationFailed) {
    return new IdTokenError(FAULTS[error.claim] ?? 'form', { cause: error });
  }
  if (error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JWKSNoMatchingKey) {
    return new IdTokenError('signature', { cause: error });
  }
  const isUnread = error instanceof errors.JWKSTimeout || error instanceof TypeError;
  return isUnread ? new TypeError('no keys', { cause: error }) : new IdTokenError('form', { cause: error });
}
