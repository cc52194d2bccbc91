import { createHash } from 'node:crypto';
import type { Connection } from './system.types.js';

/**
 * Hash by which the systems that a connection test covers are found: equal for URLs that differ only in what RFC 3986,
 * section 6.2 calls equivalent (case of scheme and host, default port, dot segments).
 * @returns 64 hexadecimal digits
 */
export function connectionKey(parts: Omit<Connection, 'clientSecret'>): string {
  const { baseUrl, authorizationType, clientId, identityProviderUrl } = parts;
  const canonical = [
    new URL(baseUrl).href,
    authorizationType,
    clientId,
    identityProviderUrl === null ? null : new URL(identityProviderUrl).href,
  ];
  return createHash('sha256').update(JSON.stringify(canonical)).digest('hex');
}
