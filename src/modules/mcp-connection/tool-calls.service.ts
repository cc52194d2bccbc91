import { createHash } from 'node:crypto';

import { Injectable, type OnModuleDestroy } from '@nestjs/common';

import type { JsonValue } from '../../common/data-paths.js';
import { configuredPolicy } from '../../common/outbound/configured-policy.js';
import { Env } from '../../config/env.js';
import type { ToolCallRequest, ToolCallResult } from './tool-call.types.js';
import { toolListLimits } from './tool-list-limits.js';
import type { CallOrder, ToolCallWorkerAnswer, ToolCallWorkerSettings } from './worker/tool-call.messages.js';
import { WorkerPool } from './worker.pool.js';

/**
 * Calls tools of MCP servers over connections that are kept between calls. All traffic and all parsing happen in a worker
 * thread of their own, so that connection tests and tool calls do not hold each other up.
 */
@Injectable()
export class ToolCallsService implements OnModuleDestroy {
  private readonly pool: WorkerPool<CallOrder, ToolCallWorkerAnswer, ToolCallResult>;
  private readonly maxTimeoutMs: number;
  private readonly stopping = new AbortController();

  /** @throws EnvError at start when `EGRESS_ALLOW` cannot be read */
  constructor(env: Env) {
    this.maxTimeoutMs = env.get('MCP_CALL_MAX_TIMEOUT_MS');
    this.pool = new WorkerPool({
      name: 'mcp-tool-calls',
      entry: '#mcp-call-worker',
      workerData: workerSettings(env),
      memoryMb: env.get('MCP_CALL_WORKER_MEMORY_MB'),
      niceness: env.get('MCP_WORKER_NICENESS'),
      maxJobs: env.get('MCP_CALL_MAX_IN_FLIGHT'),
      read: resultOf,
      lost: (cause, latencyMs) => ({ outcome: 'failed', cause, sent: 'maybe', latencyMs }),
    });
  }

  /**
   * Calls a tool with the credentials of its system. The server is asked what it lists first: a tool whose definition is
   * not the stored one is not called, unless TOOL_CHANGE_POLICY is `accept`.
   * @returns the outcome as data within `deadlineMs`; never rejects for anything an outside party does
   */
  async callTool(request: ToolCallRequest): Promise<ToolCallResult> {
    const { deadlineMs, signal, ...order } = request;
    if (signal?.aborted === true) {
      return { outcome: 'failed', cause: 'cancelled', sent: 'never', latencyMs: 0 };
    }
    return this.pool.run(
      { ...order, sessionKey: sessionKey(request) },
      Math.min(deadlineMs, this.maxTimeoutMs),
      AbortSignal.any(signal === undefined ? [this.stopping.signal] : [signal, this.stopping.signal]),
    );
  }

  /** Cancels the calls in flight and stops the worker. */
  async onModuleDestroy(): Promise<void> {
    this.stopping.abort();
    await this.pool.close();
  }
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
