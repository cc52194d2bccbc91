import type { Env } from '../../config/env.js';
import { fetchIssuerKeys } from './issuer-documents.js';
import { RemoteKeySource } from './remote-key-source.js';
import { TrustedIssuer } from './trusted-issuer.js';

/**
 * The company's OpenID Connect issuer as the settings name it.
 * @throws Error when OIDC_ISSUER or OIDC_AUDIENCE is missing, which `Env` rules out in production
 */
export function oidcIssuer(env: Env): TrustedIssuer {
  const issuer = env.get('OIDC_ISSUER');
  const audience = env.get('OIDC_AUDIENCE');
  if (issuer === undefined || audience === undefined) {
    throw new Error('OIDC_ISSUER and OIDC_AUDIENCE are required');
  }
  const address = { issuer, timeoutMs: env.get('OIDC_TIMEOUT_MS') };
  const keys = new RemoteKeySource(
    {
      cooldownMs: env.get('OIDC_JWKS_COOLDOWN_SECONDS') * 1_000,
      maxAgeMs: env.get('OIDC_JWKS_MAX_AGE_SECONDS') * 1_000,
      staleMs: env.get('OIDC_JWKS_STALE_SECONDS') * 1_000,
    },
    () => fetchIssuerKeys(address),
  );
  const authorizedParties = env.get('OIDC_AUTHORIZED_PARTIES');
  const rules = {
    issuer,
    audience,
    algorithms: env.get('OIDC_ALGORITHMS'),
    tokenTypes: env.get('OIDC_TOKEN_TYPES'),
    ...(authorizedParties.length === 0 ? {} : { authorizedParties }),
  };
  return new TrustedIssuer(rules, keys);
}
