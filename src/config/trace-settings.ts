import { z } from 'zod';
import { bareHttpUrl, integer } from './setting-rules.js';

const MINUTE_MS = 60_000;
/** Name and value of a header (RFC 9110, section 5); other facts keep to the same. */
const FIELD_NAME = /^[\w!#$%&'*+.^`|~-]{1,128}$/;
const FIELD_TEXT = /^[\x20-\x7e]{0,4096}$/;

const holdsPairs = (value: string): boolean => {
  try {
    return Object.entries(pairs(value)).every(
      ([name, text]) => FIELD_NAME.test(name) && FIELD_TEXT.test(text),
    );
  } catch {
    return false;
  }
};

/** `name=value` pairs, comma-separated and percent-encoded, as in W3C Baggage. */
const pairList = z
  .string()
  .refine(holdsPairs, 'must list name=value, comma-separated, values percent-encoded')
  .transform((value) => pairs(value))
  .optional();

/** Settings of traces, under the names that OpenTelemetry gives them. */
export const traceSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: bareHttpUrl
    .optional()
    .describe(
      'Collector that gets traces by OTLP over HTTP, in JSON, such as http://collector:4318; /v1/traces is added. With OTEL_EXPORTER_OTLP_HEADERS it must be https unless on this machine. This address alone need not be in EGRESS_ALLOW. There are no traces without it.',
    ),
  OTEL_EXPORTER_OTLP_HEADERS: pairList.describe(
    'Secret. Headers for the collector: name=value, comma-separated, values percent-encoded, such as authorization=Bearer%20abc.',
  ),
  OTEL_EXPORTER_OTLP_CERTIFICATE: z
    .string()
    .min(1)
    .optional()
    .describe('PEM file of the authority of an https collector; the built-in list without it.'),
  OTEL_EXPORTER_OTLP_TIMEOUT: integer(100, MINUTE_MS, 10_000).describe(
    'Milliseconds for one batch of spans, and at the stop for all that is left; below SHUTDOWN_TIMEOUT_MS.',
  ),
  OTEL_SERVICE_NAME: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .describe('Name of the service in traces; svc-platform without it.'),
  OTEL_RESOURCE_ATTRIBUTES: pairList.describe(
    'Facts about this deployment in traces: name=value, comma-separated, values percent-encoded, such as deployment.environment.name=production.',
  ),
  OTEL_TRACES_SAMPLER: z
    .enum(
      ['traceidratio', 'parentbased_traceidratio', 'always_on', 'parentbased_always_on'],
      'must be traceidratio, parentbased_traceidratio, always_on or parentbased_always_on',
    )
    .default('traceidratio')
    .describe(
      'traceidratio records the share OTEL_TRACES_SAMPLER_ARG of all requests, always_on all of them; with parentbased_ callers that send a traceparent decide about their requests (docs/operations.md, "Traces").',
    ),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(0(\.\d{1,9})?|1(\.0{1,9})?)$/, 'must be a number from 0 to 1')
    .transform(Number)
    .default(0.1)
    .describe('Share of the traces that are recorded, from 0 to 1.'),
  OTEL_BSP_SCHEDULE_DELAY: integer(10, MINUTE_MS, 5_000).describe(
    'Longest milliseconds that a span waits for others before it is sent.',
  ),
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: integer(1, 2_048, 256).describe('Spans that are sent at once.'),
  OTEL_BSP_MAX_QUEUE_SIZE: integer(1, 65_536, 2_048).describe(
    'Spans that wait to be sent; what comes beyond is dropped and counted (svc_trace_spans_total).',
  ),
};

function pairs(value: string): Record<string, string> {
  return Object.fromEntries(
    value
      .split(',')
      .filter((item) => item.trim() !== '')
      .map((item) => {
        const at = item.indexOf('=');
        return [item.slice(0, Math.max(at, 0)).trim(), decodeURIComponent(item.slice(at + 1).trim())];
      }),
  );
}
