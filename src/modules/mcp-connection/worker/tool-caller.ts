import type { OutboundClient } from '../../../common/outbound/outbound.client.js';
import type { ToolCallFailure } from '../model/tool-call.types.js';
import type { McpWorkerSettings } from '../model/worker-settings.js';
import { type Call, sendCall } from './call-sender.js';
import { checkedTraceparent } from './client-envelope.js';
import { ToolCallError } from './connection.error.js';
import { mcpCredentials } from './mcp-credentials.js';
import type { OAuthTokenClient } from './oauth-token.client.js';
import { outsideClients } from './outside-clients.js';
import { type OpenedSession, SessionOpener } from './session-opener.js';
import { failureOf, isSessionGone } from './tool-call-failure.js';
import { renderToolResult } from './tool-result.js';
import { type WarmSession, WarmSessions } from './warm-session.js';
import type { CallOrder, ToolCallNotice, ToolCallWorkerAnswer } from './worker.messages.js';

/** How long a call may take. */
interface CallTime {
  /** Milliseconds until it ends without an answer or progress of the tool. */
  deadlineMs: number;
  /** Ends the call; the outcome is `cancelled` then. */
  signal: AbortSignal;
  /** Hears that it has this many milliseconds from now on. */
  onProlonged: (ms: number) => void;
}

/** An answer without the id of its job. */
export type CallOutcome =
  Omit<Extract<ToolCallWorkerAnswer, { answered: unknown }>, 'id'> | { failed: ToolCallFailure };

/** Calls tools over warm sessions, each call in a guarded operation of its own. */
export class ToolCaller {
  private readonly outbound: OutboundClient;
  private readonly tokens: OAuthTokenClient;
  private readonly sessions: WarmSessions;

  /** @param onNotice hears how many sessions are open whenever that changes, and of lists that have changed */
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

  /** Never throws for anything an outside party does, and ends within its time. */
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

  /** Takes leave of all servers; for when no call is under way any more. */
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

  /** A session that the server has forgotten meanwhile is opened again, once: it refused the call, so nothing has run. */
  private async result(call: Call): Promise<Record<string, unknown>> {
    const { session } = call;
    const opened = await this.reviewed(call);
    try {
      return await sendCall(call, opened);
    } catch (error) {
      const isGone = isSessionGone(error, opened, call);
      // After 404 the protocol demands a new session, whatever the answer says (MCP 2025-11-25, "Session Management").
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

  /** The session, once it is certain that the server defines the tool as it was reviewed. */
  private async reviewed({ order: { tool }, session, operation, startedAt }: Call): Promise<OpenedSession> {
    const opened = await session.ready(startedAt - this.settings.callLimits.listMaxAgeMs, operation);
    if (this.problem(tool, opened) === undefined) {
      return opened;
    }
    // An older list may have been put right since, on the server or by a review.
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
