import type { IncomingMessage } from 'node:http';

/** `Bearer` and one b64token, nothing else (RFC 6750, section 2.1; the scheme is without case, RFC 9110, 11.1). */
const BEARER = /^Bearer +([\w\-.~+/]+=*) *$/i;

/** The token of the Authorization header; null when there is none or it is not a bearer token. */
export function bearerToken(request: IncomingMessage): string | null {
  return BEARER.exec(request.headers.authorization ?? '')?.[1] ?? null;
}

/** How many Authorization headers were sent. Node keeps the first and drops the rest without a word. */
export function countAuthorizationHeaders({ rawHeaders }: IncomingMessage): number {
  return rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === 'authorization').length;
}

/**
 * When the bearer token of an authenticated request expires, for answers that outlive the check at their beginning.
 * @returns milliseconds since 1970; 0, which is long ago, when there is no such token
 */
export function tokenExpiry(request: IncomingMessage): number {
  const payload = bearerToken(request)?.split('.')[1];
  if (payload === undefined) {
    return 0;
  }
  // The signature has been verified, and `exp` is one of the claims without which no token is taken.
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { exp?: unknown };
  return typeof claims.exp === 'number' ? claims.exp * 1_000 : 0;
}
