const RULES: readonly [RegExp, string][] = [
  [/\bBearer\s+[\w.~+/=-]+/gi, 'Bearer [removed]'],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, '[token removed]'],
  [/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@]+@/gi, '$1[removed]@'],
  [
    /\b(client_secret|clientSecret|password|access_token)(\\?["']?\s*[=:]\s*\\?["']?)[^\s"'&,}\\]+/gi,
    '$1$2[removed]',
  ],
];

/** Removes bearer tokens, JWTs, credentials in URLs and values named as secrets from a text. */
export function scrub(text: string): string {
  return RULES.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), text);
}
