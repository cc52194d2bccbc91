import type { IncomingMessage } from 'node:http';
import { bearerToken } from './bearer-token.js';

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
