/** Limits of bearer tokens and of requests to their issuer. */
export const tokenLimits = {
  /** Signature algorithms accepted. */
  algorithms: ['RS256', 'PS256', 'ES256'] as string[],
  /** Clock difference accepted for exp, nbf and iat. */
  clockToleranceSeconds: 30,
  /** Deadline of a request to the issuer, in milliseconds. */
  timeoutMs: 3_000,
  /** Minimum time between two key requests caused by unknown key ids. */
  jwksCooldownSeconds: 5,
  /**
   * Age at which the keys are loaded again. Tokens of a withdrawn key are rejected after this time plus `timeoutMs` at
   * the latest.
   */
  jwksMaxAgeSeconds: 30,
  /** How long the last keys remain in use while the issuer is down. */
  jwksStaleSeconds: 86_400,
  /** Seconds for which an introspection response is cached: a revoked token is rejected this much later at the latest. */
  introspectionCacheSeconds: 15,
  /** Connections to the introspection endpoint. Further requests wait, for at most `timeoutMs`. */
  introspectionConnections: 8,
  /** Maximum length of a bearer token. */
  maxBytes: 8_192,
};
