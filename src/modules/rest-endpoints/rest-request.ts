import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json.js';
import { compileTemplate } from '../../language/expressions/expressions.js';
import type { RunnableNode } from '../workflows/model/workflow.types.js';
import { WorkflowFailedError } from '../workflows/model/workflows.errors.js';
import { staysBelow } from './rest-path.js';
import { sentCredentials } from './sent-credentials.js';

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
/** Answers are searched for each of them. */
const MAX_CREDENTIALS = 50;

/**
 * Fills the templates of a REST_ENDPOINT node (docs/process-semantics.md, section 13): values are percent-encoded in the path and in
 * the query, and refused in a header when they hold line breaks.
 * @param input the filled `inputBody`; the body where the node has one
 * @throws WorkflowFailedError when the data do not fit; ExpressionError when an expression of a template fails
 */
export function restRequest(
  node: RunnableNode,
  baseUrl: string,
  { variables, input }: { variables: JsonObject; input: JsonValue },
  defaultTimeoutMs: number,
): RestRequest {
  const payload = node.payload ?? {};
  const { method, timeoutSeconds } = payload;
  const headers = headersOf(payload, variables);
  const body = bodyOf(node, input, headers['content-type'] ?? JSON_TYPE);
  const url = urlOf(payload, baseUrl, variables);
  return {
    method: String(method),
    url,
    credentials: credentialsOf(headers, url, filledParameters(payload, baseUrl)),
    headers: body === null ? headers : { 'content-type': JSON_TYPE, ...headers },
    body,
    timeoutMs: typeof timeoutSeconds === 'number' ? timeoutSeconds * SECOND_MS : defaultTimeoutMs,
  };
}

function urlOf(payload: JsonObject, baseUrl: string, variables: JsonObject): URL {
  const url = new URL(baseUrl);
  const path = pathOf(payload, variables);
  url.pathname = `${url.pathname.replace(/\/$/, '')}${path}`;
  if (!staysBelow(new URL(baseUrl), url, path)) {
    throw invalid(
      'The path must stay below the base URL: no "." or "..", backslash or control character, encoded or not, and no blank.',
    );
  }
  for (const [name, template] of textsOf(payload['queryParameters'])) {
    url.searchParams.append(name, compileTemplate(template).render(variables).text);
  }
  return url;
}

function pathOf(payload: JsonObject, variables: JsonObject): string {
  const path = payload['path'];
  const template = compileTemplate(typeof path === 'string' ? path : '');
  const { text, missing } = template.render(variables, undefined, encoded);
  if (missing.length > 0) {
    // Without it the path would name another resource, such as all of them in place of one.
    throw invalid('A reference in the path leads to nothing.', missing.join(', '));
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

function headersOf(payload: JsonObject, variables: JsonObject): Record<string, string> {
  const headers: Record<string, string> = { accept: 'application/json, text/*;q=0.9' };
  for (const [name, template] of textsOf(payload['headers'])) {
    const { text } = compileTemplate(template).render(variables);
    if (!HEADER_VALUE.test(text)) {
      throw invalid(
        `The header ${name} cannot have this value: line breaks and other characters are refused.`,
      );
    }
    headers[name.toLowerCase()] = text;
  }
  return headers;
}

/** Names of query parameters that hold data, and nothing that an author wrote. */
function filledParameters(payload: JsonObject, baseUrl: string): Set<string> {
  const written = new URL(baseUrl).searchParams;
  const filled = textsOf(payload['queryParameters']).filter(
    ([name, template]) => !written.has(name) && compileTemplate(template).roots.length > 0,
  );
  return new Set(filled.map(([name]) => name));
}

function credentialsOf(headers: Record<string, string>, url: URL, filled: ReadonlySet<string>): string[] {
  const credentials = sentCredentials(headers, url.searchParams, filled);
  if (credentials.length > MAX_CREDENTIALS) {
    throw invalid(`Headers and query hold more than ${MAX_CREDENTIALS} parts of credentials.`);
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
