import { ProtocolError } from '@modelcontextprotocol/client';

import { NOT_REACHED } from '../../../common/outbound/outbound.error.js';
import type { ToolCallFailure } from '../model/tool-call.types.js';
import { connectionErrorOf } from './failure-cause.js';
import { STREAM_ENDED, type Traffic } from './session-transport.js';
import type { OpenedSession } from './session-opener.js';
import { ServerError } from './server.error.js';
import { ToolCallError } from './connection.error.js';
import type { Call } from './call-sender.js';

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
  const verdict = verdictOf(error, call, signal);
  const isRefusal = verdict.cause === 'mcp_error' && error instanceof ServerError;
  const words = isRefusal ? error.words(call.credentials.removal) : '';
  const sent = sentOf(error, call);
  return { outcome: 'failed', ...verdict, sent, ...(words !== '' && { words }) };
}

/** Whether the server has refused a call for its session. With the id of the request it may have run. */
export function isSessionGone(
  error: unknown,
  { facts }: OpenedSession,
  { traffic, operation }: Call,
): boolean {
  const isRefused = traffic.requestStatus === 404 || traffic.requestStatus === 400;
  return facts.sessionId !== undefined && isRefused && !isAnswer(error) && !operation.signal.aborted;
}

/** A stream that has ended was an answer too. */
function isAnswer(error: unknown): error is ProtocolError {
  return error instanceof ServerError
    ? error.answersRequest
    : error instanceof ProtocolError && error.code === STREAM_ENDED;
}

function verdictOf(
  error: unknown,
  call: Call,
  signal: AbortSignal,
): Pick<ToolCallFailure, 'cause' | 'retryAfterMs'> {
  if (signal.aborted) {
    return { cause: 'cancelled' };
  }
  if (error instanceof ToolCallError) {
    return { cause: error.failure };
  }
  const { operation, credentials, traffic } = call;
  const { failure, retryAfterMs } = connectionErrorOf(error, { operation, credentials, status: traffic });
  return {
    cause: failure === 'too_large' ? 'result_too_large' : failure,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

function sentOf(error: unknown, { operation, traffic }: Call): ToolCallFailure['sent'] {
  const failure = operation.failure?.failure;
  const isUnreached = traffic.latest === 0 && failure !== undefined && NOT_REACHED.has(failure);
  return traffic.posted !== true || isRefused(error, traffic) || isUnreached ? 'never' : 'maybe';
}

function isRefused(error: unknown, { requestStatus = 0 }: Traffic): boolean {
  const isByCode = error instanceof ProtocolError && REFUSED_CODES.has(error.code);
  return isByCode || (REFUSED_STATUS.has(requestStatus) && !isAnswer(error));
}
