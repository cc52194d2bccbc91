import { createHash } from 'node:crypto';
import { outboundLimits } from '../../../platform/outbound/outbound.limits.js';

import { Injectable, type OnModuleDestroy } from '@nestjs/common';

import type { JsonValue } from '#engine/json';
import type { CheckedText } from '#engine/json-schema';
import { Metrics } from '../../../platform/observability/metrics/metrics.js';
import { causeOfLoss, WorkerPool } from '../../../platform/threads/worker.pool.js';
import { materialText } from '../../../platform/tls/tls-material.js';
import { Env } from '../../../platform/config/env.js';
import { Bulkhead, NotAdmittedError } from '../../../platform/concurrency/bulkhead.js';
import { type CallVerdict, CircuitBreakers } from './circuit-breakers.js';
import { asToolSpan, ToolCallMetrics } from './tool-call.metrics.js';
import type {
  ToolCallFailure,
  ToolCallFailureCause,
  ToolCallRequest,
  ToolCallResult,
} from '../model/tool-call.types.js';
import { workerSettings } from '../model/worker-settings.js';
import type {
  TextAndSchema,
  TextCheck,
  ToolCallNotice,
  ToolCallWork,
  ToolCallWorkerAnswer,
} from '../worker/worker.messages.js';
import { mcpCallLimits } from '../mcp.limits.js';

/** Result of a call or a check. */
type WorkResult = ToolCallResult | CheckedText;

/** Time to end MCP sessions on their servers when the service stops. */
const FAREWELL_MS = 1_500;

/** Failures that prove that the server answers. */
const SERVER_WORKS: ReadonlySet<ToolCallFailureCause> = new Set([
  'mcp_error',
  'rate_limited',
  'definition_changed',
  'tool_gone',
  'result_too_large',
  'invalid_result',
]);

/** Failures that say nothing about the server. */
const OUR_OWN: ReadonlySet<ToolCallFailureCause> = new Set([
  'withdrawn',
  'cancelled',
  'stopping',
  'overloaded',
  'internal',
  'circuit_open',
  'token_busy',
]);

/** Calls tools of MCP servers over persistent connections, in a separate worker thread. */
@Injectable()
export class ToolCallsService implements OnModuleDestroy {
  private readonly pool: WorkerPool<ToolCallWork, ToolCallWorkerAnswer, WorkResult>;
  private readonly checkTimeoutMs = mcpCallLimits.checkTimeoutMs;
  private readonly maxTimeoutMs = mcpCallLimits.maxTimeoutMs;
  private readonly breakers = new CircuitBreakers({
    failures: mcpCallLimits.breakerFailures,
    openMs: mcpCallLimits.breakerOpenMs,
  });
  private readonly callsPerSystem = new Bulkhead({ capacity: mcpCallLimits.maxInFlightPerSystem });
  private readonly metrics: ToolCallMetrics;
  private readonly listeners = new Set<(systemId: string) => void>();
  private readonly stopping = new AbortController();

  /** @throws EnvError at startup when `EGRESS_ALLOW` is invalid */
  constructor(env: Env, metrics: Metrics) {
    this.metrics = new ToolCallMetrics(metrics, this.breakers);
    this.pool = createPool(env, (notice) => this.handle(notice));
  }

  /**
   * Calls a tool with the credentials of its system. Reads the server's tool list first: a tool whose definition differs from the
   * stored one is not called, unless TOOL_CHANGE_POLICY is `accept`. After consecutive failures, calls to the system are stopped for a
   * while.
   * @returns the outcome as data, within `deadlineMs` after the start or the last progress of the tool, and within `maxTimeoutMs` in
   * any case; never rejects because of an external party
   * @throws errors of `isStillAllowed`
   */
  callTool(request: ToolCallRequest): Promise<ToolCallResult> {
    return asToolSpan(request, (traced) => this.call(traced));
  }

  /** Adds a listener that receives the id of a system when its server reports a changed tool list during a session. */
  onListChanged(listener: (systemId: string) => void): void {
    this.listeners.add(listener);
  }

  private handle(notice: ToolCallNotice | undefined): void {
    if (notice !== undefined && 'listChanged' in notice) {
      this.listeners.forEach((listener) => listener(notice.listChanged));
    } else {
      this.metrics.showSessions(notice?.openSessions ?? 0);
    }
  }

  private async call(request: ToolCallRequest): Promise<ToolCallResult> {
    const startedAt = performance.now();
    const deadlineAt = startedAt + Math.min(request.deadlineMs, this.maxTimeoutMs);
    const key = sessionKey(request);
    const result = await this.callInTurn(request, key, deadlineAt);
    const timed = { ...result, latencyMs: Math.round(performance.now() - startedAt) };
    this.metrics.count(timed);
    return timed;
  }

  /**
   * Validates arguments from a model against the schema of a tool, in the worker thread because the schema is untrusted.
   * @returns the arguments, what is wrong with them, or why they could not be checked; never rejects
   */
  checkArguments(check: TextAndSchema): Promise<CheckedText | ToolCallFailure> {
    return this.checked({ of: 'arguments', ...check });
  }

  /** Validates the answer of a model, in the worker thread because its text is untrusted. */
  checkAnswer(check: TextAndSchema): Promise<CheckedText | ToolCallFailure> {
    return this.checked({ of: 'answer', ...check });
  }

  /** Cancels calls in flight, ends the sessions and stops the worker. */
  async onModuleDestroy(): Promise<void> {
    this.stopping.abort();
    this.pool.cancelAll();
    await this.pool.close(FAREWELL_MS);
  }

  private async checked(check: TextCheck): Promise<CheckedText | ToolCallFailure> {
    await this.pool.ready();
    const result = await this.pool.run({ check }, this.checkTimeoutMs);
    if (!('outcome' in result)) {
      return result;
    }
    const cause = result.outcome === 'failed' ? result.cause : 'internal';
    return notSent(cause === 'timeout' ? 'arguments_unchecked' : cause);
  }

  private async callInTurn(
    request: ToolCallRequest,
    key: string,
    deadlineAt: number,
  ): Promise<ToolCallResult> {
    const ends = request.signal ? [this.stopping.signal, request.signal] : [this.stopping.signal];
    const entry = {
      key,
      waitMs: deadlineAt - performance.now(),
      // Most calls do not wait, and every combined signal stays registered with `stopping`.
      get signal() {
        return AbortSignal.any(ends);
      },
    };
    try {
      return await this.callsPerSystem.run(async (hasWaited) => {
        // The tool may have been switched off during the wait.
        const isAllowed = !hasWaited || ((await request.isStillAllowed?.()) ?? true);
        return isAllowed ? this.send(request, key, deadlineAt) : notSent('withdrawn');
      }, entry);
    } catch (error) {
      if (error instanceof NotAdmittedError) {
        return this.notCalled(request);
      }
      throw error;
    }
  }

  private async send(request: ToolCallRequest, key: string, deadlineAt: number): Promise<ToolCallResult> {
    const { deadlineMs: _deadlineMs, isStillAllowed: _isStillAllowed, signal, ...order } = request;
    const leftMs = deadlineAt - performance.now();
    if (leftMs <= 0 || this.ended(request) !== undefined) {
      return this.notCalled(request);
    }
    if (!this.breakers.admits(key)) {
      return notSent('circuit_open');
    }
    const progressMs = Math.min(request.deadlineMs, this.maxTimeoutMs);
    const endsAt = Date.now() + leftMs + this.maxTimeoutMs - progressMs;
    const work = { ...order, sessionKey: key, progressMs, endsAt };
    const answer = await this.pool.run(work, leftMs, signal);
    const result = 'outcome' in answer ? answer : notSent('internal');
    this.breakers.report(key, verdictOf(result));
    return result.outcome === 'failed' && this.ended(request) === 'stopping'
      ? { ...result, cause: 'stopping' }
      : result;
  }

  /** Returns the failure of a call that waited for a slot in vain. */
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

function notSent(cause: ToolCallFailureCause): ToolCallFailure {
  return { outcome: 'failed', cause, sent: 'never', latencyMs: 0 };
}

/** Returns what a call says about its server. Any answer counts as working, even a rejection or one that is too long. */
function verdictOf(result: ToolCallResult): CallVerdict {
  if (result.outcome === 'answered' || SERVER_WORKS.has(result.cause)) {
    return 'works';
  }
  return OUR_OWN.has(result.cause) ? 'unknown' : 'fails';
}

function createPool(
  env: Env,
  onNotice: (notice: ToolCallNotice | undefined) => void,
): WorkerPool<ToolCallWork, ToolCallWorkerAnswer, WorkResult> {
  return new WorkerPool({
    name: 'mcp-tool-calls',
    entry: '#mcp-call-worker',
    workerData: workerSettings(env),
    memoryMb: mcpCallLimits.workerMemoryMb,
    niceness: outboundLimits.threadNiceness,
    maxJobs: mcpCallLimits.maxInFlight,
    read: resultOf,
    lost: (cause, latencyMs, fate) => ({
      outcome: 'failed',
      cause: causeOfLoss(cause),
      sent: fate === 'refused' ? 'never' : 'maybe',
      latencyMs,
    }),
    onNotice: (notice) => onNotice(notice as ToolCallNotice | undefined),
  });
}

/** Returns the key of a session. Includes address, credentials and certificates, so that changes take effect with the next call. */
function sessionKey({ systemId, baseUrl, credentials, tls }: ToolCallRequest): string {
  return createHash('sha256')
    .update(JSON.stringify([systemId, baseUrl, credentials, materialText(tls)]))
    .digest('base64');
}

function resultOf(answer: ToolCallWorkerAnswer): WorkResult {
  if ('failed' in answer) {
    return answer.failed;
  }
  if ('checked' in answer) {
    const { checked } = answer;
    return 'problem' in checked ? checked : { value: JSON.parse(checked.valueJson) as JsonValue };
  }
  const { answered, structuredJson } = answer;
  const structured = structuredJson === null ? null : (JSON.parse(structuredJson) as JsonValue);
  return { ...answered, structured };
}
