import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Registry, Histogram, collectDefaultMetrics } from 'prom-client';
import { within } from '../../concurrency/deadline.js';
import type { Limit } from '../../config/env.js';

const DEADLINE_MS = 1_000;

/**
 * Waits a second at most for figures that are asked of the database, and leaves them out when they cannot be had.
 * Whoever watches the service needs the other metrics most when the database does not answer.
 */
export async function inScrapeTime(work: Promise<void>): Promise<void> {
  const quietly = work.catch(() => undefined);
  await within(DEADLINE_MS, quietly, () => undefined);
}

/** How much of a limit is used at a moment. */
export interface LimitUse {
  readonly all: number;
  /** By the caller, address or process family that uses most of it; absent where the limit is one for all. */
  readonly largest?: number;
}

type LimitReading = () => LimitUse | undefined | Promise<LimitUse | undefined>;

/** Limits in the metrics, by name. Who it is that reached one is no label. */
export class LimitMetrics {
  private readonly readings = new Map<string, LimitReading>();
  private readonly refusals: Counter<'limit'>;
  private readonly limits: Gauge<'limit'>;

  constructor(registry: Registry) {
    this.refusals = new Counter({
      name: 'svc_limit_refusals_total',
      help: 'How often a limit was the reason for an answer 429, for the end of a connection, or for a step of a process that was not made.',
      labelNames: ['limit'],
      registers: [registry],
    });
    this.limits = new Gauge({
      name: 'svc_limit',
      help: 'The limit of each caller, address or process family, or of this replica; absent where there is none.',
      labelNames: ['limit'],
      registers: [registry],
    });
    registry.registerMetric(useGauge(this.readings));
  }

  show({ name, most }: Limit, reading?: LimitReading): void {
    this.refusals.inc({ limit: name }, 0);
    if (most > 0) {
      this.limits.set({ limit: name }, most);
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
    help: 'What is used of a limit: by all together, and by the one that uses most. Of process families in all replicas, otherwise in this one.',
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
      await Promise.all([...readings].map(([limit, reading]) => inScrapeTime(measure(limit, reading))));
    },
  });
}

const SECONDS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];
/** Looks oftener than this cost an idle replica half a percent of a core. Figures of the event loop's lag have this pause in them. */
const EVENT_LOOP_LOOK_MS = 50;

/** What the service measures about itself, in the Prometheus exposition format. Labels hold no text of callers. */
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
    'Time a connection test took, without what is stored afterwards.',
    ['outcome'],
  );
  readonly toolChanges = this.counter(
    'svc_mcp_tool_changes_total',
    'Tools that a synchronisation added, changed, removed or brought back.',
    ['change'],
  );
  readonly authFailures = this.counter(
    'svc_auth_failures_total',
    'Requests refused with 401 or 403 by reason.',
    ['reason'],
  );
  readonly jobDuration = this.seconds(
    'svc_job_duration_seconds',
    'Time a background job ran, by how it ended: completed, failed (tried again later), given_up, lost, stopped.',
    ['kind', 'outcome'],
  );
  readonly processIncidents = this.counter(
    'svc_process_incidents_total',
    'Incidents of processes by what failed and why.',
    ['source', 'type'],
  );
  readonly agentRuns = this.counter(
    'svc_agent_runs_total',
    'Runs of Custom Agent nodes by how they ended: FINISHED, the code of the failure, or INTERRUPTED (tried again).',
    ['outcome'],
  );
  readonly agentToolSteps = this.counter(
    'svc_agent_tool_steps_total',
    'Calls of tools that models asked for, by what came of them.',
    ['outcome'],
  );
  readonly modelCallDuration = this.seconds(
    'svc_model_call_duration_seconds',
    'Time a call of the language model took, by outcome: answered, cancelled, or why it failed.',
    ['outcome'],
    [...SECONDS_BUCKETS, 30, 60, 120],
  );
  readonly modelTokens = this.counter(
    'svc_model_tokens_total',
    'Tokens as the language model counts them, by direction: input or output.',
    ['direction'],
  );
  readonly discoveryScanDuration = this.seconds(
    'svc_discovery_scan_duration_seconds',
    'Time a scan of the platform took, by how it ended: completed, failed, lost (another replica took over).',
    ['outcome'],
  );

  constructor() {
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: EVENT_LOOP_LOOK_MS });
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
