import { Counter, Gauge, Histogram } from 'prom-client';

import type { Metrics } from '../../../common/metrics/metrics.js';
import type { CircuitBreakers, CircuitState } from './circuit-breakers.js';
import type { ToolCallResult } from '../model/tool-call.types.js';

const SECONDS_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const STATES: readonly CircuitState[] = ['open', 'half_open'];

/** Counts tool calls and shows what is kept for them. Labels come from fixed lists. */
export class ToolCallMetrics {
  private openSessions = 0;

  private readonly calls = new Counter({
    name: 'svc_mcp_tool_calls_total',
    help: 'Tool calls by outcome (answered, tool_error: the tool itself said so, failed) and cause of failure.',
    labelNames: ['outcome', 'cause'],
    registers: [],
  });

  private readonly duration = new Histogram({
    name: 'svc_mcp_tool_call_duration_seconds',
    help: 'Time a tool call took, connecting and waiting for its turn included.',
    labelNames: ['outcome'],
    buckets: SECONDS_BUCKETS,
    registers: [],
  });

  constructor({ registry }: Metrics, breakers: CircuitBreakers) {
    registry.registerMetric(this.calls);
    registry.registerMetric(this.duration);
    registry.registerMetric(sessionGauge(() => this.openSessions));
    registry.registerMetric(breakerGauge(breakers));
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
    this.openSessions = open;
  }
}

function sessionGauge(count: () => number): Gauge {
  return new Gauge({
    name: 'svc_mcp_call_sessions',
    help: 'Sessions with MCP servers that are kept open for tool calls.',
    registers: [],
    collect() {
      this.set(count());
    },
  });
}

function breakerGauge(breakers: CircuitBreakers): Gauge {
  return new Gauge({
    name: 'svc_mcp_circuit_breakers',
    help: 'Systems whose tools are not called for a while (open) or on trial (half_open) after failures in a row.',
    labelNames: ['state'],
    registers: [],
    collect() {
      for (const state of STATES) {
        this.set({ state }, breakers.count(state));
      }
    },
  });
}
