import { ProtocolError } from '@modelcontextprotocol/client';

import { NOT_REACHED } from '../../../common/outbound/outbound.error.js';
import type { ToolCallFailure, ToolCallFailureCause } from '../model/tool-call.types.js';
import { causeOf } from './failure-cause.js';
import { STREAM_ENDED } from './mcp-http.transport.js';
import type { OpenedSession } from './session-opener.js';
import { ServerError } from './server.error.js';
import { ToolCallError } from './tool-call.error.js';
import type { Call } from './call.types.js';

/** JSON-RPC errors that come before a tool is run (JSON-RPC 2.0, section 5.1; MCP 2026-07-28, "Error Codes"). */
const REFUSED_CODES: ReadonlySet<number> = new Set([
  -32_700, -32_600, -32_601, -32_602, -32_020, -32_021, -32_022,
]);

/** HTTP statuses that refuse a request (RFC 9110, section 15.5; RFC 6585, section 4). */
const REFUSED_STATUS: ReadonlySet<number> = new Set([400, 401, 403, 404, 405, 406, 413, 415, 429]);

/** Why a call has no result, and whether the tool may nevertheless have run. */
export function failureOf(
  error: unknown,
  call: Call,
  signal: AbortSignal,
): Omit<ToolCallFailure, 'latencyMs'> {
  const cause = causeOfCall(error, call, signal);
  const { retryAfterMs } = call.traffic;
  const words =
    cause === 'mcp_error' && error instanceof ServerError ? error.words(call.credentials?.removal) : '';
  return {
    outcome: 'failed',
    cause,
    sent: sentOf(error, call),
    ...(cause === 'rate_limited' && retryAfterMs !== undefined ? { retryAfterMs } : {}),
    ...(words === '' ? {} : { words }),
  };
}

/** Whether the server has refused a call because it does not know the MCP session (any more). */
export function isSessionGone(
  error: unknown,
  { facts }: OpenedSession,
  { traffic, operation }: Call,
): boolean {
  const isRefused = traffic.requestStatus === 404 || traffic.requestStatus === 400;
  // A stream that has ended was an answer: the tool may have run.
  const hasEnded = error instanceof ProtocolError && error.code === STREAM_ENDED;
  return facts.sessionId !== undefined && isRefused && !hasEnded && !operation.signal.aborted;
}

function causeOfCall(error: unknown, call: Call, signal: AbortSignal): ToolCallFailureCause {
  if (signal.aborted) {
    return 'cancelled';
  }
  if (error instanceof ToolCallError) {
    return error.failure;
  }
  const { operation, credentials, traffic } = call;
  const cause = causeOf(error, { operation, credentials, status: traffic });
  return cause === 'too_large' ? 'result_too_large' : cause;
}

function sentOf(error: unknown, { operation, traffic }: Call): ToolCallFailure['sent'] {
  const failure = operation.failure?.failure;
  const isRefused =
    REFUSED_STATUS.has(traffic.requestStatus ?? 0) ||
    (error instanceof ProtocolError && REFUSED_CODES.has(error.code));
  const isUnreached = traffic.latest === 0 && failure !== undefined && NOT_REACHED.has(failure);
  return traffic.posted !== true || isRefused || isUnreached ? 'never' : 'maybe';
}
