import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, vi } from 'vitest';
import { TestApp } from '../../support/app.js';
import { startTraceCollector, type TraceCollector } from './trace-collector.js';

/** Variables of the OpenTelemetry SDK: record every request and export spans without delay. */
const TRACED = { OTEL_TRACES_SAMPLER: 'always_on', OTEL_BSP_SCHEDULE_DELAY: '20' };

/** Starts a service with tracing. The SDK reads its variables from the environment of the process. */
export function startTraced(settings: Record<string, string>): Promise<TestApp> {
  for (const [name, value] of Object.entries({ ...TRACED, ...settings })) {
    if (name.startsWith('OTEL_')) {
      vi.stubEnv(name, value);
    }
  }
  return TestApp.start(settings);
}

/** Returns the headers of a caller that has started a trace. */
export function traced(flags = '00'): {
  headers: { traceparent: string };
  traceId: string;
  parentId: string;
} {
  const [traceId, parentId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { headers: { traceparent: `00-${traceId}-${parentId}-${flags}` }, traceId, parentId };
}

/** A collector that all tests of a suite share, and the service that the current test has started. */
export class CollectedService {
  private started: { collector?: TraceCollector; app?: TestApp } = {};

  /** @param settings settings of every service, in addition to the defaults of tests */
  constructor(private readonly settings: Record<string, string> = {}) {
    beforeAll(async () => {
      this.started.collector = await startTraceCollector();
    });
    afterEach(async () => {
      await this.stop();
      const { collector } = this;
      collector.answer = undefined;
      collector.spans.length = 0;
      collector.requests.length = 0;
    });
    afterAll(() => this.collector.close());
  }

  get collector(): TraceCollector {
    return defined(this.started.collector);
  }

  get app(): TestApp {
    return defined(this.started.app);
  }

  /** Starts a service that exports its traces to the collector, unless the settings override it. */
  async serve(settings: Record<string, string> = {}): Promise<void> {
    const { url } = this.collector;
    this.started.app = await startTraced({
      JOBS_CONCURRENCY: '0',
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      ...this.settings,
      ...settings,
    });
  }

  /** Starts a service without traces. */
  async serveUntraced(): Promise<void> {
    this.started.app = await TestApp.start({ JOBS_CONCURRENCY: '0' });
  }

  /** Stops the service, which sends all pending spans. */
  async stop(): Promise<void> {
    const { app } = this.started;
    delete this.started.app;
    await app?.close();
    vi.unstubAllEnvs();
  }
}

function defined<T>(value: T | undefined): T {
  if (value === undefined) {
    throw new Error('It was not started.');
  }
  return value;
}
