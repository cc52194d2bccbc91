import type { OutboundOperation } from '../../../platform/outbound/outbound.operation.js';
import { type McpCredentials, mcpCredentials } from './mcp-credentials.js';
import { type Traffic, STREAM_ENDED, checkedTraceparent } from './session-transport.js';
import type { CallOrder, ToolCallNotice, ToolCallWorkerAnswer } from './worker.messages.js';
import { type WarmSession, WarmSessions } from './warm-session.js';
import { connectionErrorOf } from './failure-cause.js';
import { McpExchange } from './mcp-exchange.js';
import { McpSession } from './mcp-session.js';
import { paramHeaders } from './param-headers.js';
import { type OpenedSession, SessionOpener } from './session-opener.js';
import { ProtocolError } from '@modelcontextprotocol/client';
import { NOT_REACHED } from '../../../platform/outbound/outbound.error.js';
import type { ToolCallFailure } from '../model/tool-call.types.js';
import { ServerError, ToolCallError } from './connection.error.js';
import type { OutboundClient } from '../../../platform/outbound/outbound.client.js';
import type { McpWorkerSettings } from '../model/worker-settings.js';
import { type OAuthTokenClient, outsideClients } from './oauth-token.client.js';
import { renderToolResult } from './tool-result.js';

export interface Call {
  order: CallOrder;
  session: WarmSession;
  operation: OutboundOperation;
  credentials: McpCredentials;
  traceparent: string | undefined;
  traffic: Traffic;
  startedAt: number;
  /** Called for each progress notification of the tool. */
  onProgress: () => void;
}

/**
 * Sends one `tools/call` and returns its raw result. Over HTTP+SSE, where all answers share one stream, the call has its own
 * connection.
 * @throws errors of the library; see `failureOf`
 * @throws ConnectionError when connecting failed, so the call was not sent
 */
export function sendCall(call: Call, opened: OpenedSession): Promise<Record<string, unknown>> {
  return opened.transport === 'sse'
    ? overOwnStream(call)
    : call.session.use(opened, () => overSession(call, opened));
}

async function overSession(call: Call, { facts }: OpenedSession): Promise<Record<string, unknown>> {
  const { order, session, operation, credentials, traceparent, traffic } = call;
  const url = new URL(order.baseUrl);
  const exchange = new McpExchange({ url, operation, credentials, traceparent }, { facts, session, traffic });
  try {
    const headers = facts.isModern ? paramHeaders(order.tool.inputSchema, order.arguments) : {};
    return await exchange.request('tools/call', paramsOf(call), { headers, onProgress: call.onProgress });
  } finally {
    await exchange.close();
  }
}

async function overOwnStream(call: Call): Promise<Record<string, unknown>> {
  const { order, operation, credentials, traceparent } = call;
  const traffic: Traffic = { latest: 0 };
  const options = { url: new URL(order.baseUrl), operation, credentials, traceparent };
  const session = await McpSession.connect(options, 'sse', traffic).catch((error: unknown) => {
    throw connectionErrorOf(error, { ...options, status: traffic });
  });
  // Reset after connecting, because requests of the handshake are not part of the call.
  call.traffic = Object.assign(traffic, { posted: false, requestStatus: 0 });
  try {
    return await session.request('tools/call', paramsOf(call), call.onProgress);
  } finally {
    await session.close();
  }
}

function paramsOf({ order: { tool, arguments: args } }: Call): Record<string, unknown> {
  return { name: tool.name, arguments: args };
}

/** JSON-RPC errors that occur before a tool runs (JSON-RPC 2.0, section 5.1; MCP 2026-07-28, "Error Codes"). */
const REFUSED_CODES: ReadonlySet<number> = new Set([
  -32_700, -32_600, -32_601, -32_602, -32_020, -32_021, -32_022,
]);

/** HTTP statuses that reject a request (RFC 9110, section 15.5; RFC 6585, section 4). */
const REFUSED_STATUS: ReadonlySet<number> = new Set([400, 401, 403, 404, 405, 406, 413, 415, 429]);

/** Returns why a call has no result, and whether the tool may still have run. */
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

/** Returns whether the server rejected a call because of its session. An answer with the id of the request means that the tool may have run. */
export function isSessionGone(
  error: unknown,
  { facts }: OpenedSession,
  { traffic, operation }: Call,
): boolean {
  const isRefused = traffic.requestStatus === 404 || traffic.requestStatus === 400;
  return facts.sessionId !== undefined && isRefused && !isAnswer(error) && !operation.signal.aborted;
}

/** Returns whether the server answered the request. A stream that ended counts as an answer. */
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

/** Time limits of a call. */
interface CallTime {
  /** Milliseconds until the call ends without an answer or progress of the tool. */
  deadlineMs: number;
  /** Aborts the call with the outcome `cancelled`. */
  signal: AbortSignal;
  /** Called with the new remaining milliseconds after progress. */
  onProlonged: (ms: number) => void;
}

/** An answer of the worker without the id of its job. */
export type CallOutcome =
  Omit<Extract<ToolCallWorkerAnswer, { answered: unknown }>, 'id'> | { failed: ToolCallFailure };

/** Calls tools over warm sessions, each call in its own guarded operation. */
export class ToolCaller {
  private readonly outbound: OutboundClient;
  private readonly tokens: OAuthTokenClient;
  private readonly sessions: WarmSessions;

  /** @param onNotice called when the number of open sessions or a tool list changes */
  constructor(
    private readonly settings: McpWorkerSettings,
    onNotice: (notice: ToolCallNotice) => void,
  ) {
    const { callLimits } = settings;
    const { outbound, tokens } = outsideClients(settings, callLimits.connectTimeoutMs);
    this.outbound = outbound;
    this.tokens = tokens;
    const opener = new SessionOpener(tokens, settings);
    this.sessions = new WarmSessions(outbound, opener, callLimits, onNotice);
  }

  /** Calls a tool within the time limits. Never throws because of an external party. */
  async call(order: CallOrder, time: CallTime): Promise<CallOutcome> {
    const { signal } = time;
    const startedAt = performance.now();
    const latencyMs = (): number => Math.round(performance.now() - startedAt);
    let session: WarmSession;
    try {
      session = this.sessions.take(order.sessionKey, order);
    } catch {
      return { failed: { outcome: 'failed', cause: 'overloaded', sent: 'never', latencyMs: 0 } };
    }
    const call = this.begin(order, session, { ...time, startedAt });
    const { operation } = call;
    const cancel = (): void => void operation.close();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const result = await this.result(call);
      const { removal } = call.credentials;
      const { structured, ...answer } = renderToolResult(result, removal, order.maxImageBytes);
      return {
        answered: { outcome: 'answered', ...answer, bytes: operation.bytesRead, latencyMs: latencyMs() },
        structuredJson: structured === null ? null : JSON.stringify(structured),
      };
    } catch (error) {
      return { failed: { ...failureOf(error, call, signal), latencyMs: latencyMs() } };
    } finally {
      signal.removeEventListener('abort', cancel);
      await operation.close();
      this.sessions.giveBack(order.sessionKey, session);
    }
  }

  /** Closes all sessions. Call it when no calls are in flight. */
  async close(): Promise<void> {
    await this.sessions.close();
  }

  private begin(
    order: CallOrder,
    session: WarmSession,
    { deadlineMs, startedAt, onProlonged }: CallTime & { startedAt: number },
  ): Call {
    const { callLimits, maxResultValues } = this.settings;
    const operation = this.outbound.open(
      {
        deadlineMs,
        maxDeadlineMs: order.endsAt - Date.now(),
        maxResponseBytes: callLimits.maxResultBytes,
        maxTotalBytes: callLimits.maxResultBytes,
        maxElements: maxResultValues,
      },
      session.sockets,
    );
    const clients = { tokens: this.tokens, operation };
    const onProgress = (): void => {
      if (operation.prolong(order.progressMs)) {
        onProlonged(operation.remainingMs);
      }
    };
    return {
      order,
      session,
      operation,
      credentials: mcpCredentials(order.credentials, new URL(order.baseUrl), clients),
      traceparent: checkedTraceparent(order.traceparent),
      traffic: { latest: 0 },
      startedAt,
      onProgress,
    };
  }

  /** Sends the call. If the server rejects it because it no longer knows the session, opens a new session and repeats the call once. */
  private async result(call: Call): Promise<Record<string, unknown>> {
    const { session } = call;
    const opened = await this.reviewed(call);
    try {
      return await sendCall(call, opened);
    } catch (error) {
      const isGone = isSessionGone(error, opened, call);
      // After 404 the protocol always requires a new session (MCP 2025-11-25, "Session Management").
      if (isGone || call.traffic.requestStatus === 404) {
        session.forget(opened);
      }
      if (!isGone) {
        throw error;
      }
      call.traffic = { latest: 0 };
      return sendCall(call, await this.reviewed(call));
    }
  }

  /** Returns the session after checking that the server still has the reviewed definition of the tool. */
  private async reviewed({ order: { tool }, session, operation, startedAt }: Call): Promise<OpenedSession> {
    const opened = await session.ready(startedAt - this.settings.callLimits.listMaxAgeMs, operation);
    if (this.problem(tool, opened) === undefined) {
      return opened;
    }
    // Reads the list again, because the server or a review may have resolved the problem since.
    const latest = await session.ready(startedAt, operation);
    const problem = this.problem(tool, latest);
    if (problem !== undefined) {
      throw new ToolCallError(problem);
    }
    return latest;
  }

  private problem({ name, definitionHash }: CallOrder['tool'], { hashes }: OpenedSession) {
    const listed = hashes.get(name);
    if (listed === undefined) {
      return 'tool_gone';
    }
    return listed === definitionHash || this.settings.acceptsChanges ? undefined : 'definition_changed';
  }
}
