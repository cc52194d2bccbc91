import { decodeProtectedHeader, type JWSHeaderParameters, type ProtectedHeaderParameters } from 'jose';
import { AuthenticationRequiredError, type AuthenticationFailure } from './auth.errors.js';
import type { TokenRules } from './trusted-issuer.js';

/** Claims of a verified token. Users may influence their values, so check them before use. */
export type Claims = Readonly<Record<string, unknown>>;

/** Claims that an access token for this service always has. */
export type AccessClaims = Claims & { readonly iss: string; readonly sub: string; readonly exp: number };

const DEFAULT_TOKEN_TYPES = ['at+jwt', 'jwt', 'none'];
/** Headers that would let a token bring its own key, or change which bytes are signed (RFC 7515, RFC 7797). */
const REFUSED_HEADERS = ['crit', 'b64', 'jku', 'jwk', 'x5u', 'x5c', 'enc', 'zip'];
/** Claims of ID and logout tokens (OpenID Connect Core, 3.1.3.6; Back-Channel Logout, 2.4). */
const ID_TOKEN_CLAIMS = ['at_hash', 'c_hash', 's_hash', 'events'];
/** Links an ID token to its sign-in (OpenID Connect Core, section 2). Keycloak before 25 copies it to access tokens. */
const SIGN_IN_CLAIM = 'nonce';
const ACCESS_TOKEN_TYPE = 'at+jwt'; // RFC 9068, section 2.1
const SUBJECT_MAX_LENGTH = 255; // OpenID Connect Core, section 2
const COMPACT_JWS = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/**
 * Reads the protected header of an unverified token. Rejects what must not reach a verifier: anything but a compact
 * JWS, algorithms off the list, headers that bring keys, tokens of another type.
 * @throws AuthenticationRequiredError
 */
export function readTokenHeader(token: string, rules: TokenRules): JWSHeaderParameters {
  requireThat(COMPACT_JWS.test(token) && hasCanonicalSignature(token), 'malformed');
  const header = decodeTokenHeader(token);
  const { alg, kid } = header;
  requireThat(!REFUSED_HEADERS.some((name) => Object.hasOwn(header, name)), 'refused');
  requireThat(typeof alg === 'string' && rules.algorithms.includes(alg), 'refused');
  requireThat(kid === undefined || typeof kid === 'string', 'malformed');
  const types = rules.tokenTypes ?? DEFAULT_TOKEN_TYPES;
  requireThat(
    types.some((type) => type.toLowerCase() === typeOf(header)),
    'refused',
  );
  return header;
}

function requireThat(holds: boolean, reason: AuthenticationFailure): asserts holds {
  if (!holds) {
    throw new AuthenticationRequiredError(reason);
  }
}

/**
 * Checks the claims that jsonwebtoken leaves unchecked. The claims exp, iat, iss and sub must be present, and iat must
 * not be in the future. The token must be a plain bearer access token: no ID token, not bound to a key, with all
 * required claims.
 * @param now seconds since 1970
 * @throws AuthenticationRequiredError
 */
export function checkClaims(
  { header, claims }: { header: ProtectedHeaderParameters; claims: Claims },
  rules: TokenRules,
  now: number,
  toleranceSeconds: number,
): AccessClaims {
  const { iss, sub, exp, iat } = claims;
  requireThat(iss === rules.issuer && isSubject(sub), 'refused');
  requireThat(isDate(exp) && isDate(iat) && iat <= exp, 'refused');
  requireThat(iat <= now + toleranceSeconds, 'not_yet_valid');
  requireThat(isBearerAccessToken(claims) && !isIdToken(header, claims), 'refused');
  requireThat(hasRequired(claims, rules.requiredClaims), 'refused');
  return { ...claims, iss: rules.issuer, sub, exp };
}

/**
 * Decodes the protected header of a token.
 * @throws AuthenticationRequiredError
 */
export function decodeTokenHeader(token: string): ProtectedHeaderParameters {
  try {
    return decodeProtectedHeader(token);
  } catch (cause) {
    throw new AuthenticationRequiredError('malformed', { cause });
  }
}

/** The last character of base64url has spare bits, so without this check several texts would be the same signature. */
function hasCanonicalSignature(token: string): boolean {
  const signature = token.slice(token.lastIndexOf('.') + 1);
  return Buffer.from(signature, 'base64url').toString('base64url') === signature;
}

function typeOf(header: ProtectedHeaderParameters): string | undefined {
  if (header.typ === undefined) {
    return 'none';
  }
  return typeof header.typ === 'string' ? header.typ.toLowerCase().replace(/^application\//, '') : undefined;
}

function isSubject(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= SUBJECT_MAX_LENGTH;
}

function isDate(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0;
}

function isBearerAccessToken(claims: Claims): boolean {
  const { typ, token_use: use } = claims; // Keycloak: Bearer, ID, Refresh, Offline; Cognito: access, id
  return (
    (typ === undefined || (typeof typ === 'string' && typ.toLowerCase() === 'bearer')) &&
    (use === undefined || use === 'access') &&
    // A token bound to a key (RFC 7800) is valid only with a proof, which a plain Bearer header lacks.
    !Object.hasOwn(claims, 'cnf') &&
    !ID_TOKEN_CLAIMS.some((name) => Object.hasOwn(claims, name))
  );
}

/** ID tokens carry the nonce of the sign-in. Access tokens may have one only if they declare their type. */
function isIdToken(header: ProtectedHeaderParameters, claims: Claims): boolean {
  const declaresType =
    typeOf(header) === ACCESS_TOKEN_TYPE || claims['typ'] !== undefined || claims['token_use'] !== undefined;
  return Object.hasOwn(claims, SIGN_IN_CLAIM) && !declaresType;
}

/** Returns whether each required claim equals one of its values or, as a list, contains one. */
function hasRequired(claims: Claims, required: TokenRules['requiredClaims'] = new Map()): boolean {
  return [...required].every(([name, values]) => {
    const claim = Object.hasOwn(claims, name) ? claims[name] : undefined;
    return [claim].flat().some((value) => typeof value === 'string' && values.has(value));
  });
}
