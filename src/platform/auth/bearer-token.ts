import type { IncomingMessage } from 'node:http';

/**
 * `Bearer` and one b64token, nothing else (RFC 6750, section 2.1). The scheme is case-insensitive (RFC 9110, section
 * 11.1).
 */
const BEARER = /^Bearer +([\w\-.~+/]+=*) *$/i;

/** Returns the token of the Authorization header; null if there is none or it is not a bearer token. */
export function bearerToken(request: IncomingMessage): string | null {
  return BEARER.exec(request.headers.authorization ?? '')?.[1] ?? null;
}

/** Counts the Authorization headers of a request. Node silently drops all but the first. */
export function countAuthorizationHeaders({ rawHeaders }: IncomingMessage): number {
  return rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === 'authorization').length;
}

/**
 * Returns when the bearer token of an authenticated request expires, for responses that outlive the check at their
 * start.
 * @returns milliseconds since 1970; 0 (expired) without a token
 */
export function tokenExpiry(request: IncomingMessage): number {
  const payload = bearerToken(request)?.split('.')[1];
  if (payload === undefined) {
    return 0;
  }
  // The signature was verified, and no token is accepted without `exp`.
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { exp?: unknown };
  return typeof claims.exp === 'number' ? claims.exp * 1_000 : 0;
}
