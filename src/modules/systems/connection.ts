import { createHash } from 'node:crypto';
import type { AuthorizationRequestDto } from './dto/authorization.request.dto.js';
import { AuthorizationType } from './system.types.js';

/** What is public about a connection; the secret is compared separately. */
export interface ConnectionParts {
  baseUrl: string;
  authorizationType: AuthorizationType;
  clientId: string | null;
  identityProviderUrl: string | null;
}

/**
 * Hash by which the systems that a connection test covers are found: equal for URLs that differ only in what RFC 3986,
 * section 6.2 calls equivalent (case of scheme and host, default port, dot segments).
 * @returns 64 hexadecimal digits
 */
export function connectionKey(parts: ConnectionParts): string {
  const { baseUrl, authorizationType, clientId, identityProviderUrl } = parts;
  const canonical = [
    new URL(baseUrl).href,
    authorizationType,
    clientId,
    identityProviderUrl === null ? null : new URL(identityProviderUrl).href,
  ];
  return createHash('sha256').update(JSON.stringify(canonical)).digest('hex');
}

/** The connection that a checked request describes. NO_AUTH drops whatever configuration was sent. */
export function connectionOf(
  baseUrl: string,
  { type, configuration }: AuthorizationRequestDto,
): ConnectionParts & { clientSecret: string | null } {
  if (type === AuthorizationType.NoAuth || configuration === undefined) {
    return {
      baseUrl,
      authorizationType: type,
      clientId: null,
      clientSecret: null,
      identityProviderUrl: null,
    };
  }
  const { clientId, clientSecret, identityProviderUrl } = configuration;
  return { baseUrl, authorizationType: type, clientId, clientSecret, identityProviderUrl };
}
