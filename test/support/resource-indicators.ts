import { errors } from 'oidc-provider';
import { AUDIENCE } from './issuer.js';

/**
 * The feature `resourceIndicators` (RFC 8707) of a provider whose access tokens are JWTs for the service, and for nothing else.
 * @param scope what a token may grant, with spaces between the names
 * @param accessTokenTTL seconds for which a token is good
 */
export function resourceIndicators(
  scope: string,
  accessTokenTTL: number | undefined,
): Record<string, unknown> {
  const resource = {
    scope,
    audience: AUDIENCE,
    accessTokenTTL,
    accessTokenFormat: 'jwt',
    jwt: { sign: { alg: 'RS256' } },
  };
  return {
    enabled: true,
    defaultResource: () => AUDIENCE,
    useGrantedResource: () => true,
    getResourceServerInfo: (_context: unknown, indicator: string) => {
      if (indicator !== AUDIENCE) {
        throw new errors.InvalidTarget();
      }
      return resource;
    },
  };
}
