import { createHash } from 'node:crypto';

import { Injectable, type OnModuleDestroy } from '@nestjs/common';

import type { JsonValue } from '../../../common/json.js';
import { configuredPolicy } from '../../../common/outbound/configured-policy.js';
import { Metrics } from '../../../common/metrics/metrics.js';
import { Env } from '../../../config/env.js';
import { CallSlots } from './call-slots.js';
import { type CallVerdict, CircuitBreakers } from './circuit-breakers.js';
import { ToolCallMetrics } from './tool-call.metrics.js';
import type { ToolCallFailureCause, ToolCallRequest, ToolCallResult } from '../model/tool-call.types.js';
import { toolListLimits } from '../model/tool-list-limits.js';
import type {
  CallOrder,
  ToolCallNotice,
  ToolCallWorkerAnswer,
  ToolCallWorkerSettings,
} from '../worker/tool-call.messages.js';
import { WorkerPool } from '../pool/worker.pool.js';

/** Time to end MCP sessions on their servers when the service stops. */
const FAREWELL_MS = 1_500;

/** Failures that show that the server is there and answers. */
const SERVER_WORKS: ReadonlySet<ToolCallFailureCause> = new Set([
  'mcp_error',
  'definition_changed',
  'tool_gone',
  'result_too_large',
  'invalid_result',
]);

/** Failures that say nothing about the server. */
const OUR_OWN: ReadonlySet<ToolCallFailureCause> = new Set([
  'cancelled',
  'stopping',
  'overloaded',
  'internal',
  'circuit_open',
]);

/**
 * Calls tools of MCP servers over connections that are kept between calls. All traffic and all parsing happen in a worker
 * thread of their own, so that connection tests and tool calls do not hold each other up.
 */
@Injectable()
export class ToolCallsService implements OnModuleDestroy {
  private readonly pool: WorkerPool<CallOrder, ToolCallWorkerAnswer, ToolCallResult>;
  private readonly breakers: CircuitBreakers;
  private readonly slots: CallSlots;
  private readonly metrics: ToolCallMetrics;
  private readonly maxTimeoutMs: number;
  private readonly stopping = new AbortController();

  /** @throws EnvError at start when `EGRESS_ALLOW` cannot be read */
  constructor(env: Env, metrics: Metrics) {
    this.maxTimeoutMs = env.get('MCP_CALL_MAX_TIMEOUT_MS');
    this.slots = new CallSlots(env.get('MCP_CALL_MAX_IN_FLIGHT_PER_SYSTEM'));
    this.breakers = new CircuitBreakers({
      failures: env.get('MCP_CALL_BREAKER_FAILURES'),
      openMs: env.get('MCP_CALL_BREAKER_OPEN_MS'),
    });
    this.metrics = new ToolCallMetrics(metrics, this.breakers);
    this.pool = createPool(env, (openSessions) => this.metrics.showSessions(openSessions));
  }

  /**
   * Calls a tool with the credentials of its system. The server is asked what it lists first: a tool whose definition is
   * not the stored one is not called, unless TOOL_CHANGE_POLICY is `accept`. A system that failed several times in a row
   * is not called for a while.
   * @returns the outcome as data within `deadlineMs`; never rejects for anything an outside party does
   */
  async callTool(request: ToolCallRequest): Promise<ToolCallResult> {
    const startedAt = performance.now();
    const deadlineAt = startedAt + Math.min(request.deadlineMs, this.maxTimeoutMs);
    const key = sessionKey(request);
    const hasSlot = this.slots.tryEnter(key) || (await this.wait(key, request, deadlineAt - startedAt));
    const result = hasSlot
      ? await this.callInTurn(request, key, deadlineAt).finally(() => this.slots.leave(key))
      : this.notCalled(request);
    const timed = { ...result, latencyMs: Math.round(performance.now() - startedAt) };
    this.metrics.count(timed);
    return timed;
  }

  /** Cancels the calls in flight, takes leave of the servers and stops the worker. */
  async onModuleDestroy(): Promise<void> {
    this.stopping.abort();
    this.pool.cancelAll();
    await this.pool.close(FAREWELL_MS);
  }

  private wait(key: string, { signal }: ToolCallRequest, waitMs: number): Promise<boolean> {
    const ends = [
      this.stopping.signal,
      AbortSignal.timeout(Math.ceil(waitMs)),
      ...(signal === undefined ? [] : [signal]),
    ];
    return this.slots.enter(key, AbortSignal.any(ends));
  }

  private async callInTurn(
    request: ToolCallRequest,
    key: string,
    deadlineAt: number,
  ): Promise<ToolCallResult> {
    const { deadlineMs: _wasForAll, signal, ...order } = request;
    const leftMs = deadlineAt - performance.now();
    if (leftMs <= 0 || this.ended(request) !== undefined) {
      return this.notCalled(request);
    }
    if (!this.breakers.admits(key)) {
      return notSent('circuit_open');
    }
    const result = await this.pool.run({ ...order, sessionKey: key }, leftMs, signal);
    this.breakers.report(key, verdictOf(result));
    return result.outcome === 'failed' && this.ended(request) === 'stopping'
      ? { ...result, cause: 'stopping' }
      : result;
  }

  /** A call that waited for its turn and did not get it. */
  private notCalled(request: ToolCallRequest): ToolCallResult {
    return notSent(this.ended(request) ?? 'overloaded');
  }

  private ended({ signal }: ToolCallRequest): ToolCallFailureCause | undefined {
    if (signal?.aborted === true) {
      return 'cancelled';
    }
    return this.stopping.signal.aborted ? 'stopping' : undefined;
  }
}

function notSent(cause: ToolCallFailureCause): ToolCallResult {
  return { outcome: 'failed', cause, sent: 'never', latencyMs: 0 };
}

/** What a call says about its server. An answer is an answer, also one that refuses, or that is too long for us. */
function verdictOf(result: ToolCallResult): CallVerdict {
  if (result.outcome === 'answered' || SERVER_WORKS.has(result.cause)) {
    return 'works';
  }
  return OUR_OWN.has(result.cause) ? 'unknown' : 'fails';
}

function createPool(
  env: Env,
  onSessions: (open: number) => void,
): WorkerPool<CallOrder, ToolCallWorkerAnswer, ToolCallResult> {
  return new WorkerPool({
    name: 'mcp-tool-calls',
    entry: '#mcp-call-worker',
    workerData: workerSettings(env),
    memoryMb: env.get('MCP_CALL_WORKER_MEMORY_MB'),
    niceness: env.get('MCP_WORKER_NICENESS'),
    maxJobs: env.get('MCP_CALL_MAX_IN_FLIGHT'),
    read: resultOf,
    lost: (cause, latencyMs, fate) => ({
      outcome: 'failed',
      cause,
      sent: fate === 'refused' ? 'never' : 'maybe',
      latencyMs,
    }),
    onNotice: (notice) => onSessions((notice as ToolCallNotice | undefined)?.openSessions ?? 0),
  });
}

/** Rotated credentials and a changed address take effect with the next call. */
function sessionKey({ systemId, baseUrl, credentials }: ToolCallRequest): string {
  const parts =
    credentials.type === 'NO_AUTH'
      ? []
      : [credentials.tokenUrl, credentials.clientId, credentials.clientSecret];
  return createHash('sha256')
    .update(JSON.stringify([systemId, baseUrl, ...parts]))
    .digest('base64');
}

function resultOf(answer: ToolCallWorkerAnswer): ToolCallResult {
  if ('failed' in answer) {
    return answer.failed;
  }
  const { answered, structuredJson } = answer;
  const structured = structuredJson === null ? null : (JSON.parse(structuredJson) as JsonValue);
  return { ...answered, structured };
}

function workerSettings(env: Env): ToolCallWorkerSettings {
  const deadlineMs = env.get('MCP_CALL_CONNECT_TIMEOUT_MS');
  return {
    policy: configuredPolicy(env),
    maxRedirects: env.get('EGRESS_MAX_REDIRECTS'),
    connectTimeoutMs: env.get('EGRESS_CONNECT_TIMEOUT_MS'),
    tokenMaxBytes: env.get('TOKEN_ENDPOINT_MAX_BYTES'),
    tokenTimeoutMs: deadlineMs,
    opening: {
      deadlineMs,
      maxResponseBytes: env.get('MCP_MAX_RESPONSE_BYTES'),
      maxTotalBytes: env.get('MCP_MAX_TOTAL_BYTES'),
    },
    toolList: toolListLimits(env),
    maxResultBytes: env.get('MCP_CALL_MAX_RESULT_BYTES'),
    listMaxAgeMs: env.get('MCP_CALL_LIST_MAX_AGE_MS'),
    idleMs: env.get('MCP_CALL_IDLE_MS'),
    maxSessions: env.get('MCP_CALL_MAX_SESSIONS'),
    acceptsChanges: env.get('TOOL_CHANGE_POLICY') === 'accept',
  };
}
