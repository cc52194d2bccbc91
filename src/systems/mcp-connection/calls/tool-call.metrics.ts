import { Counter, Gauge, Histogram } from 'prom-client';
import { SpanKind } from '@opentelemetry/api';
import type { Metrics } from '../../../platform/observability/metrics/metrics.js';
import type { CircuitBreakers } from './circuit-breakers.js';
import type { ToolCallRequest, ToolCallResult } from '../model/tool-call.types.js';
import { currentSpan, inSpan } from '../../../platform/observability/tracing/spans.js';

const SECONDS_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Counts tool calls and shows what is kept for them. Labels come from fixed lists. */
export class ToolCallMetrics {
  private readonly calls: Counter<'outcome' | 'cause'>;
  private readonly duration: Histogram<'outcome'>;
  private readonly sessions: Gauge;

  constructor({ registry }: Metrics, breakers: CircuitBreakers) {
    const registers = [registry];
    this.calls = new Counter({
      name: 'svc_mcp_tool_calls_total',
      help: 'Tool calls by outcome (answered, tool_error: the tool itself said so, failed) and cause of failure.',
      labelNames: ['outcome', 'cause'],
      registers,
    });
    this.duration = new Histogram({
      name: 'svc_mcp_tool_call_duration_seconds',
      help: 'Time a tool call took, connecting and waiting for its turn included.',
      labelNames: ['outcome'],
      buckets: SECONDS_BUCKETS,
      registers,
    });
    this.sessions = new Gauge({
      name: 'svc_mcp_call_sessions',
      help: 'Sessions with MCP servers that are kept open for tool calls.',
      registers,
    });
    void new Gauge({
      name: 'svc_mcp_circuit_breakers',
      help: 'Systems whose tools are not called for a while (open) or on trial (half_open) after failures in a row.',
      labelNames: ['state'],
      registers,
      collect() {
        this.set({ state: 'open' }, breakers.count('open'));
        this.set({ state: 'half_open' }, breakers.count('half_open'));
      },
    });
  }

  /** Counts one finished call. */
  count(result: ToolCallResult): void {
    const outcome = result.outcome === 'answered' && result.isError ? 'tool_error' : result.outcome;
    const cause = result.outcome === 'failed' ? result.cause : 'none';
    this.calls.inc({ outcome, cause });
    this.duration.observe({ outcome }, result.latencyMs / 1_000);
  }

  /** @param open sessions with MCP servers that are open now */
  showSessions(open: number): void {
    this.sessions.set(open);
  }
}

/**
 * Makes a call of a tool a span (OpenTelemetry Semantic Conventions, "Model Context Protocol"), and lets the server go on with it. Neither
 * arguments nor results are a part of it.
 * @param call gets the request with the trace that it goes on with, where there are traces
 */
export function asToolSpan(
  request: ToolCallRequest,
  call: (request: ToolCallRequest) => Promise<ToolCallResult>,
): Promise<ToolCallResult> {
  const { name } = request.tool;
  const attributes = {
    'mcp.method.name': 'tools/call',
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': name,
    'svc.system.id': request.systemId,
  };
  return inSpan(`tools/call ${name}`, { kind: SpanKind.CLIENT, attributes }, async (span) => {
    const traceparent = currentSpan()?.traceparent;
    const result = await call(traceparent === undefined ? request : { ...request, traceparent });
    if (result.outcome === 'failed') {
      span?.fail(result.cause);
    } else if (result.isError) {
      span?.fail('tool_error');
    }
    return result;
  });
}
