import { isJsonObject, type JsonObject, type JsonValue } from '#engine/json';
import type { NodeContext, NodeTexts } from '../workflows/model/node-executor.js';
import type { RunnableNode } from '../workflows/model/workflow.types.js';
import { WorkflowFailedError } from '../workflows/model/workflows.errors.js';
import { credentialParts, SCHEME, USER_INFO } from '../../../platform/secrets/credential-parts.js';

/** Request to an endpoint, without the credentials of its system. */
export interface RestRequest {
  method: string;
  url: URL;
  headers: Record<string, string>;
  body: string | null;
  /** Values in headers and query that must not appear in an answer. */
  credentials: readonly string[];
  timeoutMs: number;
}

const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]{0,8192}$/;
const JSON_TYPE = 'application/json';
const SECOND_MS = 1_000;
/** Limited because answers are searched for each of them in all its encodings; enough for two headers of maximum size. */
const MAX_CREDENTIALS = 50;
const MAX_CREDENTIAL_BYTES = 49_152;

/**
 * Fills the templates of a REST_ENDPOINT node (docs/process-semantics.md, section 13): values are percent-encoded in path and query,
 * and rejected in a header if they contain line breaks.
 * @param context.input filled `inputBody`, used as body if the node has one
 * @throws WorkflowFailedError for invalid values; ExpressionError when an expression of a template fails
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

/** @returns URL, and names of query parameters whose values come only from data */
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
      'The path must stay below the base URL: no "." or "..", backslash or control character, encoded or not, and no space.',
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
  // Without a value the path would address another resource, such as a whole collection.
  if (missing.length > 0) {
    throw invalid('A reference in the path has no value.', missing.join(', '));
  }
  if (hasEmpty) {
    throw invalid('A value in the path is empty or null.');
  }
  return text;
}

/** @throws WorkflowFailedError for an unpaired surrogate, which cannot be encoded */
function encoded(value: string): string {
  try {
    return encodeURIComponent(value);
  } catch {
    throw invalid('A value in the path cannot be encoded in a URL.');
  }
}

async function headersOf(payload: JsonObject, texts: NodeTexts): Promise<Record<string, string>> {
  const headers: Record<string, string> = { accept: 'application/json, text/*;q=0.9' };
  for (const [name, template] of textsOf(payload['headers'])) {
    const { text } = await texts.fill(template);
    if (!HEADER_VALUE.test(text)) {
      throw invalid(
        `The value of the header ${name} is invalid: line breaks and some other characters are not allowed.`,
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

/** Returns the body; null for a node without one. */
function bodyOf({ inputBody, payload }: RunnableNode, input: JsonValue, contentType: string): string | null {
  if (inputBody === null || inputBody.trim() === '') {
    return null;
  }
  if (payload?.['method'] === 'GET') {
    throw invalid('A GET request cannot have a body: remove inputBody or use another method.');
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

/** One round more than a server behind a proxy is likely to decode. */
const MAX_ROUNDS = 3;
const ASCII_ESCAPES = /%(25|2e|2f|5c|3b|0[\da-f]|1[\da-f]|7f)/gi;
/** Control characters, also those beyond ASCII in UTF-8 (U+0080 to U+009F). */
const CONTROLS = /\p{Cc}|%c2%[89][\da-f]/iu;

/**
 * Whether a URL stays below a base URL for all proxies and servers, however often they decode its path: it must not contain a
 * parent segment, even after encoded slashes or with path parameters (`..;`), nor a backslash or control character, which some
 * treat as a slash or drop.
 * @param base without query; its path ends at a segment boundary
 * @param path unparsed path appended to the path of `base`; spaces in values are encoded there
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

/** Endings of header and query parameter names that hold credentials, ignoring case, `-`, `_` and `.`. */
const CREDENTIAL_NAME =
  /(authorization|auth|cookie|credentials?|passw(or)?d|pwd|passphrase|secret|token|jwt|signature|sig|sess(ion)?(id)?|secretid)$|(^|^x|api|app|application|access|auth|account|client|consumer|functions|license|master|private|secret|service|shared|subscription)key$/;
/** Query parameter that holds a credential only if the author wrote its value; otherwise `key` usually identifies a record. */
const KEY_NAME = /^key$/i;
/** Endings of pagination parameters, which hold no credentials. */
const CURSOR_NAME = /(page|next|continuation|sync|cursor)token$/;
/** A JSON Web Token (RFC 7515, section 7.1). */
const TOKEN = /^eyJ[\w-]*\.[\w-]+\.[\w-]*/;

/**
 * Returns the credentials in headers and query: values under a credential name, and values that look like a credential under any
 * name, whole and in the parts that an answer could contain. (The guarded client rejects user information in URLs.)
 * @param filled names of query parameters whose values come from data
 */
export function sentCredentials(
  headers: Record<string, string>,
  query: URLSearchParams,
  filled: ReadonlySet<string> = new Set(),
): string[] {
  const ofQuery = [...query].filter(
    ([name, value]) =>
      looksLikeCredential(value) || (isCredentialName(name) && !(KEY_NAME.test(name) && filled.has(name))),
  );
  const ofHeaders = Object.entries(headers).filter(
    ([name, value]) => isCredentialName(name) || looksLikeCredential(value),
  );
  const parts = [...ofHeaders, ...ofQuery].flatMap(([, value]) => credentialParts(value.trim()));
  return [...new Set(parts)];
}

function isCredentialName(name: string): boolean {
  const plain = name.toLowerCase().replaceAll(/[-_.]/g, '');
  return CREDENTIAL_NAME.test(plain) && !CURSOR_NAME.test(plain);
}

function looksLikeCredential(value: string): boolean {
  return [SCHEME, TOKEN, USER_INFO].some((pattern) => pattern.test(value.trim()));
}
