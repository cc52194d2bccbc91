import type { TlsMaterial } from '../../../platform/tls/tls-material.js';
import type { JsonValue } from '#engine/json';
import { CONNECTION_FAILURES } from './connection-failure.types.js';
import type { SystemCredentials } from './connection-test.types.js';

/** Why a tool call failed, as a short sentence per cause: a fixed list. */
export const TOOL_CALL_FAILURES = {
  ...CONNECTION_FAILURES,
  overloaded: 'Too many tool calls are running, or the answers of others are too large; try again later.',
  internal: 'The tool call failed inside the service.',
  definition_changed: 'The MCP server defines the tool differently now than when it was reviewed.',
  tool_gone: 'The MCP server does not list the tool any more.',
  result_too_large: 'The answer of the tool is larger than allowed.',
  invalid_result: 'The MCP server did not answer with a valid result of a tool.',
  circuit_open: 'The MCP server failed several times in a row and is left alone for a while.',
  withdrawn: 'The tool was switched off while the call waited for its turn.',
  cancelled: 'The call was cancelled.',
  arguments_unchecked: 'To hold the arguments against the schema of the tool takes too long.',
} as const;

/** One cause of {@link TOOL_CALL_FAILURES}. */
export type ToolCallFailureCause = keyof typeof TOOL_CALL_FAILURES;

/** The part of a stored tool definition that a call needs. */
interface CalledTool {
  name: string;
  /** As stored: its `x-mcp-header` declarations become headers. */
  inputSchema: Record<string, unknown>;
  /** Fingerprint of the stored definition; a server that lists another one is not called. */
  definitionHash: string;
}

/** One call of a tool. */
export interface ToolCallRequest {
  /** Id of the system's row: calls of one system share connections and a circuit breaker. */
  systemId: string;
  baseUrl: string;
  credentials: SystemCredentials;
  /** What the system adds to TLS. */
  tls?: TlsMaterial;
  tool: CalledTool;
  /** Checked against the input schema by the caller, or not: the server judges too. */
  arguments: Record<string, unknown>;
  /** Milliseconds from now, or from the last progress of the tool, until the outcome; connecting, and waiting for other calls, count. */
  deadlineMs: number;
  /** Bytes, as base64, of the images that the answer may bring; others are only named in its text. @default 0 */
  maxImageBytes?: number;
  /** W3C trace context of the work around the call; sent as header and in `_meta`, dropped when malformed. */
  traceparent?: string;
  /** Ends the call and frees its connection; the outcome is `cancelled` then. */
  signal?: AbortSignal;
  /** Asked when a call that waited for others has its turn; without a yes it is not made, and the outcome is `withdrawn`. */
  isStillAllowed?: () => Promise<boolean>;
}

/** An image of the result of a tool: PNG, JPEG, GIF or WebP by its first bytes. Untrusted. */
export interface ToolImage {
  readonly mimeType: string;
  /** Base64 (RFC 4648, section 4). */
  readonly data: string;
}

/** The tool has answered, with a result or with an error of its own (`isError`). */
export interface ToolAnswer {
  outcome: 'answered';
  isError: boolean;
  /** All content as plain text: texts as they are without characters a person cannot see, other kinds named. Untrusted. */
  text: string;
  /** `structuredContent` as it came, null when there was none. Untrusted. */
  structured: JsonValue | null;
  /** Up to `maxImageBytes` of the request. */
  images?: readonly ToolImage[];
  /** Decoded bytes that were read for this call. */
  bytes: number;
  latencyMs: number;
}

/** No answer of the tool. */
export interface ToolCallFailure {
  outcome: 'failed';
  cause: ToolCallFailureCause;
  /** `never`: the tool has certainly not run, since nothing was sent or the server refused it. `maybe`: nobody knows. */
  sent: 'never' | 'maybe';
  /** How long the server asks to wait before the next call (429), in milliseconds. */
  retryAfterMs?: number;
  /** What the server says of its refusal, as plain text without what it was sent and what a person cannot see. Untrusted. */
  words?: string;
  latencyMs: number;
}

/** Outcome of a tool call: data, never an exception. */
export type ToolCallResult = ToolAnswer | ToolCallFailure;

const SECOND_MS = 1_000;

/** Says in one of the fixed sentences why a call has no answer. */
export function sentenceOf({ cause, retryAfterMs }: Pick<ToolCallFailure, 'cause' | 'retryAfterMs'>): string {
  const wait = retryAfterMs === undefined ? '' : ` It asks to wait ${Math.ceil(retryAfterMs / SECOND_MS)} s.`;
  return `${TOOL_CALL_FAILURES[cause]}${wait}`;
}
