import { Counter, Gauge, Histogram } from 'prom-client';
import { SpanKind } from '@opentelemetry/api';
import type { Metrics } from '../../../platform/observability/metrics/metrics.js';
import type { CircuitBreakers } from './circuit-breakers.js';
import type { ToolCallRequest, ToolCallResult } from '../model/tool-call.types.js';
import { currentSpan, inSpan } from '../../../platform/observability/tracing/spans.js';

const SECONDS_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Metrics of tool calls and their sessions. Labels come from fixed lists. */
export class ToolCallMetrics {
  private readonly calls: Counter<'outcome' | 'cause'>;
  private readonly duration: Histogram<'outcome'>;
  private readonly sessions: Gauge;

  constructor({ registry }: Metrics, breakers: CircuitBreakers) {
    const registers = [registry];
    this.calls = new Counter({
      name: 'svc_mcp_tool_calls_total',
      help: 'Tool calls by outcome (answered, tool_error: error returned by the tool, failed) and cause of failure.',
      labelNames: ['outcome', 'cause'],
      registers,
    });
    this.duration = new Histogram({
      name: 'svc_mcp_tool_call_duration_seconds',
      help: 'Duration of tool calls, including connecting and waiting for a slot.',
      labelNames: ['outcome'],
      buckets: SECONDS_BUCKETS,
      registers,
    });
    this.sessions = new Gauge({
      name: 'svc_mcp_call_sessions',
      help: 'Open sessions with MCP servers for tool calls.',
      registers,
    });
    void new Gauge({
      name: 'svc_mcp_circuit_breakers',
      help: 'Systems whose tools are not called (open) or called on trial (half_open) after consecutive failures.',
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

  /** Sets the number of open sessions. */
  showSessions(open: number): void {
    this.sessions.set(open);
  }
}

/**
 * Runs a tool call in a span (OpenTelemetry Semantic Conventions, "Model Context Protocol") that the server can continue. The span
 * contains neither arguments nor results.
 * @param call receives the request with the trace context, if tracing is on
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
