import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Registry, Histogram, collectDefaultMetrics } from 'prom-client';
import { within } from '../../concurrency/deadline.js';
import type { Limit } from '../../config/env.js';

const DEADLINE_MS = 1_000;

/**
 * Waits at most a second for metrics that come from the database, and omits them if they fail. Operators need the other
 * metrics most when the database does not answer.
 */
export async function withinScrapeTime(work: Promise<void>): Promise<void> {
  const quietly = work.catch(() => undefined);
  await within(DEADLINE_MS, quietly, () => undefined);
}

/** Current use of a limit. */
export interface LimitUse {
  readonly all: number;
  /** Use by the caller, address or process family that uses most; absent for a limit that all share. */
  readonly largest?: number;
}

type LimitReading = () => LimitUse | undefined | Promise<LimitUse | undefined>;

/** Metrics of limits, by name of the limit. Labels do not identify callers. */
export class LimitMetrics {
  private readonly readings = new Map<string, LimitReading>();
  private readonly refusals: Counter<'limit'>;
  private readonly limits: Gauge<'limit'>;

  constructor(registry: Registry) {
    this.refusals = new Counter({
      name: 'svc_limit_refusals_total',
      help: 'Requests answered with 429, connections closed and process steps rejected because of a limit.',
      labelNames: ['limit'],
      registers: [registry],
    });
    this.limits = new Gauge({
      name: 'svc_limit',
      help: 'Limit of each caller, address or process family, or of this replica. Absent if there is no limit.',
      labelNames: ['limit'],
      registers: [registry],
    });
    registry.registerMetric(useGauge(this.readings));
  }

  show({ name, max }: Limit, reading?: LimitReading): void {
    this.refusals.inc({ limit: name }, 0);
    if (max > 0) {
      this.limits.set({ limit: name }, max);
    }
    if (reading !== undefined) {
      this.readings.set(name, reading);
    }
  }

  refused(name: string): void {
    this.refusals.inc({ limit: name });
  }
}

function useGauge(readings: ReadonlyMap<string, LimitReading>): Gauge<'limit' | 'of'> {
  return new Gauge({
    name: 'svc_limit_use',
    help: 'Current use of a limit: in total (all), and by the caller, address or process family that uses most (largest). Covers all replicas for process families, otherwise this replica.',
    labelNames: ['limit', 'of'],
    registers: [],
    async collect() {
      this.reset();
      const measure = async (limit: string, reading: LimitReading): Promise<void> => {
        const { all, largest } = (await reading()) ?? {};
        for (const [of, use] of Object.entries({ all, largest })) {
          if (use !== undefined) {
            this.set({ limit, of }, use);
          }
        }
      };
      await Promise.all([...readings].map(([limit, reading]) => withinScrapeTime(measure(limit, reading))));
    },
  });
}

const SECONDS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];
/** More frequent samples cost an idle replica half a percent of a core. Event loop lag metrics include this interval. */
const EVENT_LOOP_SAMPLE_MS = 50;

/** Metrics of the service in the Prometheus exposition format. Labels contain no text from callers. */
@Injectable()
export class Metrics {
  readonly registry = new Registry();
  readonly httpDuration = this.seconds(
    'svc_http_request_duration_seconds',
    'Time from the request line to the end of the response.',
    ['method', 'route', 'status'],
  );

  readonly limits = new LimitMetrics(this.registry);
  readonly connectionTests = this.counter(
    'svc_mcp_connection_tests_total',
    'Connection tests by outcome and cause of failure.',
    ['outcome', 'cause'],
  );
  readonly connectionTestDuration = this.seconds(
    'svc_mcp_connection_test_duration_seconds',
    'Duration of a connection test, without storing its results.',
    ['outcome'],
  );
  readonly toolChanges = this.counter(
    'svc_mcp_tool_changes_total',
    'Tools that a synchronisation added, changed, removed or restored.',
    ['change'],
  );
  readonly authFailures = this.counter(
    'svc_auth_failures_total',
    'Requests rejected with 401 or 403, by reason.',
    ['reason'],
  );
  readonly jobDuration = this.seconds(
    'svc_job_duration_seconds',
    'Duration of a background job by outcome: completed, failed (retried later), given_up, lost, stopped.',
    ['kind', 'outcome'],
  );
  readonly processIncidents = this.counter(
    'svc_process_incidents_total',
    'Process incidents by what failed and why.',
    ['source', 'type'],
  );
  readonly agentRuns = this.counter(
    'svc_agent_runs_total',
    'Runs of Custom Agent nodes by outcome: FINISHED, the failure code, or INTERRUPTED (retried).',
    ['outcome'],
  );
  readonly agentToolSteps = this.counter(
    'svc_agent_tool_steps_total',
    'Tool calls requested by models, by outcome.',
    ['outcome'],
  );
  readonly modelCallDuration = this.seconds(
    'svc_model_call_duration_seconds',
    'Duration of a language model call by outcome: answered, cancelled, or the reason for the failure.',
    ['outcome'],
    [...SECONDS_BUCKETS, 30, 60, 120],
  );
  readonly modelTokens = this.counter(
    'svc_model_tokens_total',
    'Tokens as counted by the language model, by direction: input or output.',
    ['direction'],
  );
  readonly discoveryScanDuration = this.seconds(
    'svc_discovery_scan_duration_seconds',
    'Duration of a platform scan by outcome: completed, failed, lost (another replica took over).',
    ['outcome'],
  );

  constructor() {
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: EVENT_LOOP_SAMPLE_MS });
  }

  text(): Promise<string> {
    return this.registry.metrics();
  }

  private counter<Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  private seconds<Label extends string>(
    name: string,
    help: string,
    labelNames: Label[],
    buckets = SECONDS_BUCKETS,
  ): Histogram<Label> {
    return new Histogram({ name, help, labelNames, buckets, registers: [this.registry] });
  }
}
