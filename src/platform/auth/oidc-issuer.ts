import type { Env } from '../config/env.js';
import { fetchIssuerKeys } from './issuer-documents.js';
import { IssuerEndpoints, TrustedIssuer } from './trusted-issuer.js';
import { RemoteKeySource } from './remote-key-source.js';
import { TokenIntrospection } from './token-introspection.js';
import { tokenLimits } from './token.limits.js';

/**
 * Creates the OpenID Connect issuer that the settings name.
 * @throws Error when OIDC_ISSUER or OIDC_AUDIENCE is missing, which `Env` rules out in production
 */
export function oidcIssuer(env: Env): TrustedIssuer {
  const issuer = env.get('OIDC_ISSUER');
  const audience = env.get('OIDC_AUDIENCE');
  if (issuer === undefined || audience === undefined) {
    throw new Error('OIDC_ISSUER and OIDC_AUDIENCE are required');
  }
  const endpoints = new IssuerEndpoints(issuer);
  const keys = new RemoteKeySource(() =>
    fetchIssuerKeys(issuer, (discovery) => endpoints.setDocument(discovery)),
  );
  const rules = {
    issuer,
    audience,
    algorithms: tokenLimits.algorithms,
    tokenTypes: env.get('OIDC_TOKEN_TYPES'),
    requiredClaims: requiredClaims(env.get('OIDC_REQUIRED_CLAIMS')),
  };
  return new TrustedIssuer(rules, keys, introspectionOf(env), endpoints);
}

function requiredClaims(items: readonly string[]): Map<string, Set<string>> {
  const claims = new Map<string, Set<string>>();
  for (const item of items) {
    const at = item.indexOf('=');
    const name = item.slice(0, at);
    claims.set(name, (claims.get(name) ?? new Set()).add(item.slice(at + 1)));
  }
  return claims;
}

function introspectionOf(env: Env): TokenIntrospection | undefined {
  const url = env.get('OIDC_INTROSPECTION_URL');
  return url === undefined
    ? undefined
    : new TokenIntrospection({
        url,
        authorization: authorizationOf(env),
        cacheMs: tokenLimits.introspectionCacheSeconds * 1_000,
        timeoutMs: tokenLimits.timeoutMs,
        connections: tokenLimits.introspectionConnections,
      });
}

function authorizationOf(env: Env): string {
  const [id, secret] = [
    env.get('OIDC_INTROSPECTION_CLIENT_ID'),
    env.get('OIDC_INTROSPECTION_CLIENT_SECRET'),
  ].map((part = '') => new URLSearchParams({ part }).toString().slice('part='.length));
  return `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
}
