import type { Agent } from 'node:http';
import { createNoopMeter, type Meter, type MeterProvider } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import { Counter, type Registry } from 'prom-client';
import { within } from '../../concurrency/deadline.js';
import type { Log } from '../logging/log.js';
import { spanSource } from '../tracing/span-source.js';
import { withSpan } from '../tracing/spans.js';
import type { SpanSource } from '../tracing/tracer.js';

interface ExportOptions {
  readonly url: string;
  /** May contain secrets. */
  readonly headers: Record<string, string>;
  readonly agentFor: (protocol: string) => Agent;
  readonly log: Log;
  readonly registry: Registry;
}

/** Spans that are exported to a collector until `stop`. */
export interface ExportedSpans extends SpanSource {
  stop(): Promise<void>;
}

/** Maximum time to flush spans at shutdown, in case the collector hangs. */
const STOP_MS = 10_000;
/** Maximum number of batches waiting for the single connection. Shutdown exports the entire queue as batches. */
const BATCHES = 8;

/** Exports spans to a collector with OTLP over HTTP, as configured by the environment variables of OpenTelemetry. */
export function exportSpans({ url, headers, agentFor, log, registry }: ExportOptions): ExportedSpans {
  let agent: Agent | undefined;
  const otlp = new OTLPTraceExporter({
    url,
    headers,
    concurrencyLimit: BATCHES,
    httpAgentOptions: (protocol) => (agent = agentFor(protocol)),
  });
  // The processor passes this option to its base class, but its own type does not declare it.
  const metered: object = { selfObsMeterProvider: spanCounter(registry) };
  const processor = new BatchSpanProcessor(withFailureLog(otlp, log), metered);
  const { provider, ...source } = spanSource(processor);
  const stop = async (): Promise<void> => {
    await within(STOP_MS, provider.shutdown(), () => undefined).catch(() => undefined);
    agent?.destroy();
  };
  return { ...source, stop };
}

/** Logs once when exports begin to fail and once when they succeed again. Messages of libraries and collectors are not logged. */
function withFailureLog(exporter: SpanExporter, log: Log): SpanExporter {
  let hasFailed = false;
  return {
    // Without this, the export would belong to the span that happened to fill the batch.
    export: (spans, done) =>
      withSpan(undefined, () =>
        exporter.export(spans, (result) => {
          const isFailure = result.error !== undefined;
          if (isFailure && !hasFailed) {
            log.warn('traces cannot be exported', { reason: reasonOf(result.error) });
          } else if (!isFailure && hasFailed) {
            log.info('traces are exported again');
          }
          hasFailed = isFailure;
          done(result);
        }),
      ),
    shutdown: () => exporter.shutdown(),
  };
}

/** Returns an HTTP status, the code of a network error, or the reason why the egress rules rejected the address. */
function reasonOf(error: Error | undefined): string {
  const { failure, code } = { ...error } as { failure?: string; code?: string | number };
  return String(failure ?? code ?? 'unavailable');
}

/** Returns a meter provider that counts spans by outcome. The processor reports outcomes only to a meter. */
function spanCounter(registry: Registry): MeterProvider {
  const counts = new Counter({
    name: 'svc_trace_spans_total',
    help: 'Spans of recorded traces by outcome: exported, dropped (queue full), failed (not accepted by the collector).',
    labelNames: ['outcome'],
    registers: [registry],
  });
  ['exported', 'dropped', 'failed'].forEach((outcome) => counts.inc({ outcome }, 0));
  const createCounter = () => ({
    add: (count: number, attributes: { 'error.type'?: string } = {}): void => {
      const why = attributes['error.type'];
      const outcome = why === undefined ? 'exported' : why === 'queue_full' ? 'dropped' : 'failed';
      counts.inc({ outcome }, count);
    },
  });
  const meter = Object.create(createNoopMeter(), { createCounter: { value: createCounter } }) as Meter;
  return { getMeter: () => meter };
}
