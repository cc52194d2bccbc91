import { isJsonObject, type JsonObject, type JsonValue } from '#engine/json';
import type { NodeContext, NodeTexts } from '../workflows/model/node-executor.js';
import type { RunnableNode } from '../workflows/model/workflow.types.js';
import { WorkflowFailedError } from '../workflows/model/workflows.errors.js';
import { credentialParts, SCHEME, USER_INFO } from '../../../platform/secrets/credential-parts.js';

/** A call of an endpoint, without the credentials of its system. */
export interface RestRequest {
  method: string;
  url: URL;
  headers: Record<string, string>;
  body: string | null;
  /** What of headers and query may not come back in an answer. */
  credentials: readonly string[];
  timeoutMs: number;
}

const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]{0,8192}$/;
const JSON_TYPE = 'application/json';
const SECOND_MS = 1_000;
/** Answers are searched for each of them, in all its forms: as many as two headers of the largest size have. */
const MAX_CREDENTIALS = 50;
const MAX_CREDENTIAL_BYTES = 49_152;

/**
 * Fills the templates of a REST_ENDPOINT node (docs/process-semantics.md, section 13): values are percent-encoded in the path and in
 * the query, and refused in a header when they hold line breaks.
 * @param context.input the filled `inputBody`; the body where the node has one
 * @throws WorkflowFailedError when the data do not fit; ExpressionError when an expression of a template fails
 */
export async function restRequest(
  node: RunnableNode,
  baseUrl: string,
  { texts, input }: Pick<NodeContext, 'texts' | 'input'>,
  defaultTimeoutMs: number,
): Promise<RestRequest> {
  const payload = node.payload ?? {};
  const { method, timeoutSeconds } = payload;
  const headers = await headersOf(payload, texts);
  const body = bodyOf(node, input, headers['content-type'] ?? JSON_TYPE);
  const { url, filled } = await urlOf(payload, baseUrl, texts);
  return {
    method: String(method),
    url,
    credentials: credentialsOf(headers, url, filled),
    headers: body === null ? headers : { 'content-type': JSON_TYPE, ...headers },
    body,
    timeoutMs: typeof timeoutSeconds === 'number' ? timeoutSeconds * SECOND_MS : defaultTimeoutMs,
  };
}

/** @returns also the names of query parameters that hold data, and nothing that an author wrote */
async function urlOf(
  payload: JsonObject,
  baseUrl: string,
  texts: NodeTexts,
): Promise<{ url: URL; filled: Set<string> }> {
  const base = new URL(baseUrl);
  const url = new URL(baseUrl);
  const path = await pathOf(payload, texts);
  url.pathname = `${url.pathname.replace(/\/$/, '')}${path}`;
  if (!staysBelow(base, url, path)) {
    throw invalid(
      'The path must stay below the base URL: no "." or "..", backslash or control character, encoded or not, and no blank.',
    );
  }
  const filled = new Set<string>();
  for (const [name, template] of textsOf(payload['queryParameters'])) {
    const { text, isFixed } = await texts.fill(template);
    url.searchParams.append(name, text);
    if (!isFixed && !base.searchParams.has(name)) {
      filled.add(name);
    }
  }
  return { url, filled };
}

async function pathOf(payload: JsonObject, texts: NodeTexts): Promise<string> {
  const path = payload['path'];
  let hasEmpty = false;
  const { text, missing } = await texts.fill(typeof path === 'string' ? path : '', (value, raw) => {
    hasEmpty ||= raw === null || raw === '';
    return encoded(value);
  });
  // Without a value the path would name another resource, such as all of them in place of one.
  if (missing.length > 0) {
    throw invalid('A reference in the path leads to nothing.', missing.join(', '));
  }
  if (hasEmpty) {
    throw invalid('A value in the path is empty or null.');
  }
  return text;
}

/** @throws WorkflowFailedError for half of a surrogate pair, which no URL can hold */
function encoded(value: string): string {
  try {
    return encodeURIComponent(value);
  } catch {
    throw invalid('A value in the path is no text that a URL can hold.');
  }
}

async function headersOf(payload: JsonObject, texts: NodeTexts): Promise<Record<string, string>> {
  const headers: Record<string, string> = { accept: 'application/json, text/*;q=0.9' };
  for (const [name, template] of textsOf(payload['headers'])) {
    const { text } = await texts.fill(template);
    if (!HEADER_VALUE.test(text)) {
      throw invalid(
        `The header ${name} cannot have this value: line breaks and other characters are refused.`,
      );
    }
    headers[name.toLowerCase()] = text;
  }
  return headers;
}

function credentialsOf(headers: Record<string, string>, url: URL, filled: ReadonlySet<string>): string[] {
  const credentials = sentCredentials(headers, url.searchParams, filled);
  if (credentials.length > MAX_CREDENTIALS) {
    throw invalid(`Headers and query hold more than ${MAX_CREDENTIALS} parts of credentials.`);
  }
  if (credentials.reduce((sum, text) => sum + Buffer.byteLength(text), 0) > MAX_CREDENTIAL_BYTES) {
    throw invalid(
      `The parts of credentials in headers and query have more than ${MAX_CREDENTIAL_BYTES} bytes.`,
    );
  }
  return credentials;
}

/** Null for a node without one. */
function bodyOf({ inputBody, payload }: RunnableNode, input: JsonValue, contentType: string): string | null {
  if (inputBody === null || inputBody.trim() === '') {
    return null;
  }
  if (payload?.['method'] === 'GET') {
    throw invalid('A GET has no body: take the inputBody out, or use another method.');
  }
  const isText = typeof input === 'string' && !/[/+]json\b/i.test(contentType);
  return isText ? input : JSON.stringify(input);
}

function textsOf(value: unknown): [string, string][] {
  return Object.entries(isJsonObject(value) ? value : {}).map(([name, text]) => [name, String(text)]);
}

function invalid(message: string, details?: string): WorkflowFailedError {
  return new WorkflowFailedError('NODE_INPUT_INVALID', message, { details });
}

/** Decoded once more than a server and a proxy before it are likely to. */
const MAX_ROUNDS = 3;
const ASCII_ESCAPES = /%(25|2e|2f|5c|3b|0[\da-f]|1[\da-f]|7f)/gi;
/** Control characters, also those beyond ASCII in UTF-8 (U+0080 to U+009F). */
const CONTROLS = /\p{Cc}|%c2%[89][\da-f]/iu;

/**
 * Whether a URL, as it will be sent, stays below a base URL for everyone on the way, however far they decode its path: no
 * segment that leads upwards, also behind encoded slashes and path parameters (`..;`), and no backslash or control character,
 * which some take for a slash or drop.
 * @param base without query; its path ends at a border between segments
 * @param path what was put behind the path of `base`, before any parser has seen it; a blank in a value is encoded there
 */
export function staysBelow(base: URL, url: URL, path: string): boolean {
  const root = base.pathname.replace(/\/$/, '');
  const isBelow = url.pathname === root || url.pathname.startsWith(`${root}/`);
  const ways = [path, url.pathname.slice(root.length)].map(decoded);
  return url.origin === base.origin && isBelow && !path.includes(' ') && ways.every(isPlain);
}

function decoded(path: string): string {
  let text = path;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    text = text.replace(ASCII_ESCAPES, (escape) => String.fromCharCode(Number.parseInt(escape.slice(1), 16)));
  }
  return text;
}

function isPlain(path: string): boolean {
  const leadsUpwards = path.split('/').some((segment) => /^\.{1,2}(;|$)/.test(segment));
  return !leadsUpwards && !path.includes('\\') && !CONTROLS.test(path);
}

/** How the name of a header or query parameter ends that holds a credential, without regard to case, `-`, `_` and `.`. */
const CREDENTIAL_NAME =
  /(authorization|auth|cookie|credentials?|passw(or)?d|pwd|passphrase|secret|token|jwt|signature|sig|sess(ion)?(id)?|secretid)$|(^|^x|api|app|application|access|auth|account|client|consumer|functions|license|master|private|secret|service|shared|subscription)key$/;
/** Names that are those of a credential only where the author wrote the value: in a query `key` mostly names a record. */
const KEY_NAME = /^key$/i;
/** Names that end so and hold none: where a list goes on. */
const CURSOR_NAME = /(page|next|continuation|sync|cursor)token$/;
/** A JSON Web Token (RFC 7515, section 7.1). */
const TOKEN = /^eyJ[\w-]*\.[\w-]+\.[\w-]*/;

/**
 * The credentials that the author of a node wrote into it, or had filled in from the data: what its headers and its query hold
 * under a name of credentials, and what looks like one under any name. Each as a whole, and in the parts that can come back alone.
 * (User information in the address itself is never sent: the guarded client refuses it.)
 * @param filled names of query parameters whose values come from the data
 */
export function sentCredentials(
  headers: Record<string, string>,
  query: URLSearchParams,
  filled: ReadonlySet<string> = new Set(),
): string[] {
  const ofQuery = [...query].filter(
    ([name, value]) =>
      isLikeCredential(value) || (isNamedSo(name) && !(KEY_NAME.test(name) && filled.has(name))),
  );
  const ofHeaders = Object.entries(headers).filter(
    ([name, value]) => isNamedSo(name) || isLikeCredential(value),
  );
  const parts = [...ofHeaders, ...ofQuery].flatMap(([, value]) => credentialParts(value.trim()));
  return [...new Set(parts)];
}

function isNamedSo(name: string): boolean {
  const plain = name.toLowerCase().replaceAll(/[-_.]/g, '');
  return CREDENTIAL_NAME.test(plain) && !CURSOR_NAME.test(plain);
}

function isLikeCredential(value: string): boolean {
  return [SCHEME, TOKEN, USER_INFO].some((pattern) => pattern.test(value.trim()));
}
