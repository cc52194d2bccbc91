import { Injectable } from '@nestjs/common';
import { Counter, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { LimitMetrics } from './limit-metrics.js';

const SECONDS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];
/** Looks oftener than this cost an idle replica half a percent of a core. Figures of the event loop's lag have this pause in them. */
const EVENT_LOOP_LOOK_MS = 50;

/** What the service measures about itself, in the Prometheus exposition format. Labels hold no text of callers. */
@Injectable()
export class Metrics {
  readonly registry = new Registry();

  readonly httpDuration = new Histogram({
    name: 'svc_http_request_duration_seconds',
    help: 'Time from the request line to the end of the response.',
    labelNames: ['method', 'route', 'status'],
    buckets: SECONDS_BUCKETS,
    registers: [this.registry],
  });

  /** Bounds of what callers, addresses and process families may use. */
  readonly limits = new LimitMetrics(this.registry);

  readonly connectionTests = new Counter({
    name: 'svc_mcp_connection_tests_total',
    help: 'Connection tests by outcome and cause of failure.',
    labelNames: ['outcome', 'cause'],
    registers: [this.registry],
  });

  readonly connectionTestDuration = new Histogram({
    name: 'svc_mcp_connection_test_duration_seconds',
    help: 'Time a connection test took, without what is stored afterwards.',
    labelNames: ['outcome'],
    buckets: SECONDS_BUCKETS,
    registers: [this.registry],
  });

  readonly toolChanges = new Counter({
    name: 'svc_mcp_tool_changes_total',
    help: 'Tools that a synchronisation added, changed, removed or brought back.',
    labelNames: ['change'],
    registers: [this.registry],
  });

  readonly authFailures = new Counter({
    name: 'svc_auth_failures_total',
    help: 'Requests refused with 401 or 403 by reason.',
    labelNames: ['reason'],
    registers: [this.registry],
  });

  readonly jobDuration = new Histogram({
    name: 'svc_job_duration_seconds',
    help: 'Time a background job ran, by how it ended: completed, failed (tried again later), given_up, lost, stopped.',
    labelNames: ['kind', 'outcome'],
    buckets: SECONDS_BUCKETS,
    registers: [this.registry],
  });

  readonly processIncidents = new Counter({
    name: 'svc_process_incidents_total',
    help: 'Incidents of processes by what failed and why.',
    labelNames: ['source', 'type'],
    registers: [this.registry],
  });

  readonly agentRuns = new Counter({
    name: 'svc_agent_runs_total',
    help: 'Runs of Custom Agent nodes by how they ended: FINISHED, the code of the failure, or INTERRUPTED (tried again).',
    labelNames: ['outcome'],
    registers: [this.registry],
  });

  readonly agentToolSteps = new Counter({
    name: 'svc_agent_tool_steps_total',
    help: 'Calls of tools that models asked for, by what came of them.',
    labelNames: ['outcome'],
    registers: [this.registry],
  });

  readonly modelCallDuration = new Histogram({
    name: 'svc_model_call_duration_seconds',
    help: 'Time a call of the language model took, by outcome: answered, cancelled, or why it failed.',
    labelNames: ['outcome'],
    buckets: [...SECONDS_BUCKETS, 30, 60, 120],
    registers: [this.registry],
  });

  readonly modelTokens = new Counter({
    name: 'svc_model_tokens_total',
    help: 'Tokens as the language model counts them, by direction: input or output.',
    labelNames: ['direction'],
    registers: [this.registry],
  });

  readonly discoveryScanDuration = new Histogram({
    name: 'svc_discovery_scan_duration_seconds',
    help: 'Time a scan of the platform took, by how it ended: completed, failed, lost (another replica took over).',
    labelNames: ['outcome'],
    buckets: SECONDS_BUCKETS,
    registers: [this.registry],
  });

  constructor() {
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: EVENT_LOOP_LOOK_MS });
  }

  /** The exposition text. */
  text(): Promise<string> {
    return this.registry.metrics();
  }
}
