import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, vi } from 'vitest';
import { TestApp } from '../../support/app.js';
import { startTraceCollector, type TraceCollector } from './trace-collector.js';

/** Variables of the OpenTelemetry SDK: every request is recorded, and nobody waits long for the collector. */
const TRACED = { OTEL_TRACES_SAMPLER: 'always_on', OTEL_BSP_SCHEDULE_DELAY: '20' };

/** Starts a service with traces. The SDK reads its variables from the process. */
export function startTraced(settings: Record<string, string>): Promise<TestApp> {
  for (const [name, value] of Object.entries({ ...TRACED, ...settings })) {
    if (name.startsWith('OTEL_')) {
      vi.stubEnv(name, value);
    }
  }
  return TestApp.start(settings);
}

/** The headers of a caller who has begun a trace. */
export function traced(flags = '00'): {
  headers: { traceparent: string };
  traceId: string;
  parentId: string;
} {
  const [traceId, parentId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { headers: { traceparent: `00-${traceId}-${parentId}-${flags}` }, traceId, parentId };
}

/** One collector for all tests of a suite, and a service for each of them that starts one. */
export class CollectedService {
  private started: { collector?: TraceCollector; app?: TestApp } = {};

  /** @param settings of every service, beside those that a test needs */
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
    return there(this.started.collector);
  }

  get app(): TestApp {
    return there(this.started.app);
  }

  /** Starts a service whose traces the collector gets, unless the settings name another one. */
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

  /** What waits is sent by then. */
  async stop(): Promise<void> {
    const { app } = this.started;
    delete this.started.app;
    await app?.close();
    vi.unstubAllEnvs();
  }
}

function there<T>(thing: T | undefined): T {
  if (thing === undefined) {
    throw new Error('not started');
  }
  return thing;
}
