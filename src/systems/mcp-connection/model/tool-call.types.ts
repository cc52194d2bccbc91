import type { TlsMaterial } from '../../../platform/tls/tls-material.js';
import type { JsonValue } from '#engine/json';
import { CONNECTION_FAILURES } from './connection-failure.types.js';
import type { SystemCredentials } from './connection-test.types.js';

/** Causes of failed tool calls, with fixed sentences. */
export const TOOL_CALL_FAILURES = {
  ...CONNECTION_FAILURES,
  overloaded: 'Too many tool calls are running, or the answers of others are too large; try again later.',
  internal: 'The tool call failed inside the service.',
  definition_changed: 'The definition of the tool on the MCP server has changed since its review.',
  tool_gone: 'The MCP server no longer lists the tool.',
  result_too_large: 'The answer of the tool is larger than allowed.',
  invalid_result: 'The MCP server did not answer with a valid tool result.',
  circuit_open: 'The MCP server failed several times in a row and is not called for a while.',
  withdrawn: 'The tool was disabled while the call was waiting.',
  cancelled: 'The call was cancelled.',
  arguments_unchecked: 'Checking the arguments against the schema of the tool took too long.',
} as const;

/** One cause of {@link TOOL_CALL_FAILURES}. */
export type ToolCallFailureCause = keyof typeof TOOL_CALL_FAILURES;

/** Parts of a stored tool definition that a call needs. */
export interface CalledTool {
  name: string;
  /** Stored input schema, whose `x-mcp-header` declarations become headers. */
  inputSchema: Record<string, unknown>;
  /** Hash of the stored definition. The tool is not called when the server lists another one. */
  definitionHash: string;
}

/** One call of a tool. */
export interface ToolCallRequest {
  /** Id of the system, whose calls share connections and a circuit breaker. */
  systemId: string;
  baseUrl: string;
  credentials: SystemCredentials;
  /** Certificates of the system. */
  tls?: TlsMaterial;
  tool: CalledTool;
  /** Not checked here; the caller or the server validates them against the input schema. */
  arguments: Record<string, unknown>;
  /** Milliseconds from now, or from the last progress of the tool, until the outcome, including connecting and waiting for other calls. */
  deadlineMs: number;
  /** Maximum base64 bytes of images in the answer; further images are only named in its text. @default 0 */
  maxImageBytes?: number;
  /** W3C trace context to send as header and in `_meta`; dropped when malformed. */
  traceparent?: string;
  /** Aborts the call with the outcome `cancelled` and frees its connection. */
  signal?: AbortSignal;
  /** Checked after a call has waited for others. If false, the tool is not called and the outcome is `withdrawn`. */
  isStillAllowed?: () => Promise<boolean>;
}

/** An image in a tool result, PNG, JPEG, GIF or WebP by its first bytes. Untrusted. */
export interface ToolImage {
  readonly mimeType: string;
  /** Base64 (RFC 4648, section 4). */
  readonly data: string;
}

/** Answer of a tool: a result, or an error of the tool (`isError`). */
export interface ToolAnswer {
  outcome: 'answered';
  isError: boolean;
  /** All content as plain text without invisible characters; content that is not text is only named. Untrusted. */
  text: string;
  /** `structuredContent` of the answer; null if absent. Untrusted. */
  structured: JsonValue | null;
  /** Limited by `maxImageBytes` of the request. */
  images?: readonly ToolImage[];
  /** Decoded bytes read for this call. */
  bytes: number;
  latencyMs: number;
}

/** A call without an answer of the tool. */
export interface ToolCallFailure {
  outcome: 'failed';
  cause: ToolCallFailureCause;
  /** `never`: the tool has certainly not run, because nothing was sent or the server rejected the call. `maybe`: unknown. */
  sent: 'never' | 'maybe';
  /** Milliseconds to wait before the next call, as requested by the server (HTTP 429). */
  retryAfterMs?: number;
  /** Message of the server about its rejection, as plain text without sent credentials and invisible characters. Untrusted. */
  words?: string;
  latencyMs: number;
}

/** Outcome of a tool call, as data and never as an exception. */
export type ToolCallResult = ToolAnswer | ToolCallFailure;

const SECOND_MS = 1_000;

/** Returns the fixed sentence for a failure, with the wait that the server requested. */
export function sentenceOf({ cause, retryAfterMs }: Pick<ToolCallFailure, 'cause' | 'retryAfterMs'>): string {
  const wait = retryAfterMs === undefined ? '' : ` It asks to wait ${Math.ceil(retryAfterMs / SECOND_MS)} s.`;
  return `${TOOL_CALL_FAILURES[cause]}${wait}`;
}

/** Returns whether a failed call may have had an effect, in one sentence. */
export function doubtOf({ sent }: Pick<ToolCallFailure, 'sent'>): string {
  return sent === 'never' ? 'The tool was not called.' : 'The tool may have done its work.';
}
