/** Bounds of bearer tokens and of asking their issuer. */
export const tokenLimits = {
  /** Signature algorithms accepted. */
  algorithms: ['RS256', 'PS256', 'ES256'] as string[],
  /** Clock difference accepted for exp, nbf and iat. */
  clockToleranceSeconds: 30,
  /** Milliseconds to wait for the issuer. */
  timeoutMs: 3_000,
  /** Least time between two key requests caused by unknown key ids. */
  jwksCooldownSeconds: 5,
  /** Age after which the keys are asked for again; tokens of a key that the issuer withdrew are refused this much later, and `timeoutMs`, at the latest. */
  jwksMaxAgeSeconds: 30,
  /** How long the last good keys serve while the issuer is down. */
  jwksStaleSeconds: 86_400,
  /** Seconds for which an answer of the introspection endpoint serves: a revoked token is refused this much later at the latest. */
  introspectionCacheSeconds: 15,
  /** Connections to the introspection endpoint; requests beyond them wait, for `timeoutMs` at the most. */
  introspectionConnections: 8,
  /** Longest bearer token accepted. */
  maxBytes: 8_192,
};
