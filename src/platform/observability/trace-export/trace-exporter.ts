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
  /** May hold secrets. */
  readonly headers: Record<string, string>;
  readonly agentFor: (protocol: string) => Agent;
  readonly log: Log;
  readonly registry: Registry;
}

/** Spans that go to a collector until they are stopped. */
export interface ExportedSpans extends SpanSource {
  stop(): Promise<void>;
}

/** A collector that hangs does not hold up the stop. */
const STOP_MS = 10_000;
/** Batches that wait for the one connection. At the stop the whole queue becomes batches. */
const BATCHES = 8;

/** Sends spans to a collector by OTLP over HTTP, as the variables of OpenTelemetry say. */
export function exportSpans({ url, headers, agentFor, log, registry }: ExportOptions): ExportedSpans {
  let agent: Agent | undefined;
  const otlp = new OTLPTraceExporter({
    url,
    headers,
    concurrencyLimit: BATCHES,
    httpAgentOptions: (protocol) => (agent = agentFor(protocol)),
  });
  // The processor passes the meter on to the class it extends; its own type does not name it.
  const metered: object = { selfObsMeterProvider: counting(registry) };
  const processor = new BatchSpanProcessor(logged(otlp, log), metered);
  const { provider, ...source } = spanSource(processor);
  const stop = async (): Promise<void> => {
    await within(STOP_MS, provider.shutdown(), () => undefined).catch(() => undefined);
    agent?.destroy();
  };
  return { ...source, stop };
}

/** Logs that the collector stopped or resumed taking spans, once each. What a library or a collector says is not logged. */
function logged(exporter: SpanExporter, log: Log): SpanExporter {
  let hasFailed = false;
  return {
    // The span that happened to fill the batch has nothing to do with the export.
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

/** A status, the code of a network error, or the reason why the egress rules refused the address. */
function reasonOf(error: Error | undefined): string {
  const { failure, code } = { ...error } as { failure?: string; code?: string | number };
  return String(failure ?? code ?? 'unavailable');
}

/** Counts what became of the spans. The processor reports it to a meter only. */
function counting(registry: Registry): MeterProvider {
  const counts = new Counter({
    name: 'svc_trace_spans_total',
    help: 'Spans of recorded traces: exported to the collector, dropped because too many waited, failed because the collector did not take them.',
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
