import { endOfString } from '#engine/json';
import { runWithoutYielding, type YieldingWork } from '#engine/support';

const REMOVED = '[removed]';

/**
 * Patterns of secrets in text of unknown origin. Each expression takes linear time for any text, because it never
 * rescans what it has passed.
 */
const RULES: readonly [RegExp, string][] = [
  [/\bBearer\s{1,8}[\w.~+/=-]+/gi, `Bearer ${REMOVED}`],
  [/:\/\/[^\s/@"'\\]+@/g, `://${REMOVED}@`],
  [
    /(authorization|secret|password|passwd|private_?key|api[_-]?key|token)(\\*["']?\s{0,8}[=:]\s{0,8}\\*["']?)((?:Basic|Digest|Bearer)\s{1,8})?[^\s"'&,}\\]+/gi,
    `$1$2$3${REMOVED}`,
  ],
];
/** Characters of a JSON Web Token (RFC 7515, section 7.1): three parts, of which the first encodes `{"…`. */
const TOKEN_RUN = /[\w.-]{20,}/g;
const TOKEN_START = 'eyJ';
const TOKEN_PARTS = 3;
/** Length of the shortest JSON string that a rule can match: `"://a@"`. */
const SHORTEST_FOUND = 7;
const NO_NAME = '""';
const CHARACTERS_AT_ONCE = 16_384;

/** Names of members whose text is a secret, in lower case without hyphens and underscores. */
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
  return runWithoutYielding(scrubSteps(text));
}

function* scrubSteps(text: string): YieldingWork<string> {
  let rest = text;
  for (const [pattern, replacement] of RULES) {
    rest = rest.replace(pattern, replacement);
    if (rest.length > CHARACTERS_AT_ONCE) {
      yield;
    }
  }
  return rest.includes(TOKEN_START) ? rest.replace(TOKEN_RUN, withoutToken) : rest;
}

/**
 * Scrubs every text of a JSON value. The text of a member with a secret name is removed entirely. Works on the JSON text
 * without parsing it, so that the number of values does not matter.
 * @param json in the format of `JSON.stringify`
 * @returns the scrubbed JSON
 */
export function* scrubbedJson(json: string): YieldingWork<string> {
  let done = '';
  let read = 0;
  let pause = CHARACTERS_AT_ONCE;
  let name = '';
  for (let at = json.indexOf('"'); at !== -1; at = json.indexOf('"', at)) {
    const end = endOfString(json, at) + 1;
    const text = json.slice(at, end);
    const isMember = json[at - 1] === ':';
    if (json[end] === ':') {
      name = text;
    } else if (isMember || text.length >= SHORTEST_FOUND) {
      const shown = yield* shownText(text, isMember ? name : NO_NAME);
      done += json.slice(read, at) + shown;
      read = end;
    }
    at = end;
    if (at >= pause) {
      yield;
      pause = at + CHARACTERS_AT_ONCE;
    }
  }
  return done + json.slice(read);
}

function* shownText(json: string, name: string): YieldingWork<string> {
  if (isSecretName(name)) {
    return JSON.stringify(REMOVED);
  }
  const text = json.includes('\\') ? (JSON.parse(json) as string) : json.slice(1, -1);
  const rest = yield* scrubSteps(text);
  return rest === text ? json : JSON.stringify(rest);
}

function isSecretName(name: string): boolean {
  return SECRET_NAMES.has((JSON.parse(name) as string).toLowerCase().replaceAll(/[-_]/g, ''));
}

function withoutToken(run: string): string {
  const start = run.indexOf(TOKEN_START);
  return start >= 0 && run.slice(start).split('.').length >= TOKEN_PARTS
    ? `${run.slice(0, start)}[token removed]`
    : run;
}
