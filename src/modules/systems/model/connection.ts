import { createHash } from 'node:crypto';
import { comparableOptions } from './credential-options.js';
import { type Connection, type SystemTls, SystemType } from './system.types.js';

/** What is public about a connection. @default none of certificates and headers */
type ConnectionParts = Omit<Connection, 'clientSecret' | 'headers' | 'headerNames' | keyof SystemTls> &
  Partial<Omit<SystemTls, 'clientKey'> & Pick<Connection, 'headerNames'>>;

/**
 * Hash that finds the systems of a connection test. It is equal for URLs that RFC 3986, section 6.2 calls equivalent (case of
 * scheme and host, default port, dot segments).
 * @returns 64 hexadecimal digits
 */
export function connectionKey(parts: ConnectionParts): string {
  const { baseUrl, authorizationType, clientId, identityProviderUrl } = parts;
  const { caCertificates = null, clientCertificate = null, headerNames = null } = parts;
  const canonical = [
    new URL(baseUrl).href,
    authorizationType,
    clientId,
    identityProviderUrl === null ? null : new URL(identityProviderUrl).href,
    caCertificates,
    clientCertificate,
    comparableOptions(parts),
    // Names of headers have no case.
    headerNames === null ? null : headerNames.toLowerCase(),
  ];
  return createHash('sha256').update(JSON.stringify(canonical)).digest('hex');
}

/** The key of a stored system; null where nothing looks for it: only MCP systems are tested. */
export function connectionKeyOf(
  system: { type: SystemType } & { [Part in keyof ConnectionParts]: ConnectionParts[Part] | null },
): string | null {
  const { type, baseUrl, authorizationType } = system;
  return type === SystemType.Mcp && baseUrl !== null && authorizationType !== null
    ? connectionKey({ ...system, baseUrl, authorizationType })
    : null;
}
