import type { JsonValue } from '../json.js';

const REMOVED = '[removed]';

/**
 * What looks like a secret in a text of unknown origin. Each expression reads a text once, whatever the text is: none starts
 * anew inside of what it has passed.
 */
const RULES: readonly [RegExp, string][] = [
  [/\bBearer\s{1,8}[\w.~+/=-]+/gi, `Bearer ${REMOVED}`],
  [/:\/\/[^\s/@"'\\]+@/g, `://${REMOVED}@`],
  [
    /(authorization|secret|password|passwd|private_?key|api[_-]?key|token)(\\*["']?\s{0,8}[=:]\s{0,8}\\*["']?)((?:Basic|Digest|Bearer)\s{1,8})?[^\s"'&,}\\]+/gi,
    `$1$2$3${REMOVED}`,
  ],
];
/** A run of the characters that JSON Web Tokens are made of (RFC 7515, section 7.1): three parts, the first of them `{"…`. */
const TOKEN_RUN = /[\w.-]{20,}/g;
const TOKEN_START = 'eyJ';
const TOKEN_PARTS = 3;

/** Members whose text is a secret, in lower case and without hyphens and underscores. */
const SECRET_NAMES: ReadonlySet<string> = new Set([
  'accesstoken',
  'apikey',
  'authorization',
  'clientsecret',
  'idtoken',
  'passwd',
  'password',
  'privatekey',
  'refreshtoken',
  'secret',
  'token',
  'xapikey',
]);

/** Removes bearer tokens, JWTs, credentials in URLs and values named as secrets from a text. */
export function scrub(text: string): string {
  const rest = RULES.reduce((left, [pattern, replacement]) => left.replace(pattern, replacement), text);
  return rest.includes(TOKEN_START) ? rest.replace(TOKEN_RUN, withoutToken) : rest;
}

/** As `scrub`, in every text of a JSON value; the text of a member that is named like a secret is removed as a whole. */
export function scrubJson(value: JsonValue): JsonValue {
  if (typeof value === 'string') {
    return scrub(value);
  }
  if (Array.isArray(value)) {
    return value.map(scrubJson);
  }
  if (value === null || typeof value !== 'object') {
    return value;
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      typeof member === 'string' && isSecretName(name) ? REMOVED : scrubJson(member),
    ]),
  );
}

function isSecretName(name: string): boolean {
  return SECRET_NAMES.has(name.toLowerCase().replaceAll(/[-_]/g, ''));
}

function withoutToken(run: string): string {
  const start = run.indexOf(TOKEN_START);
  return start >= 0 && run.slice(start).split('.').length >= TOKEN_PARTS
    ? `${run.slice(0, start)}[token removed]`
    : run;
}
