import { z } from 'zod';
import { bareHttpUrl } from './setting-rules.js';

/** Name and value of a header (RFC 9110, section 5). */
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

/** Trace settings with rules of this service. The OpenTelemetry SDK reads the other variables of its specification. */
export const traceSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: bareHttpUrl
    .optional()
    .describe(
      'Collector that receives traces by OTLP over HTTP, in JSON, such as http://collector:4318; /v1/traces is appended. With OTEL_EXPORTER_OTLP_HEADERS it must be https unless on this machine. It need not be in EGRESS_ALLOW. Without it, there are no traces.',
    ),
  OTEL_EXPORTER_OTLP_HEADERS: pairList.describe(
    'Secret. Headers for the collector: name=value, comma-separated, values percent-encoded, such as authorization=Bearer%20abc.',
  ),
};

/**
 * Samples 10 % of the traces by default, whatever callers request, because tracing every request would cost too much.
 * Sets environment variables, since the SDK reads nothing else.
 */
export function setDefaultSampling(): void {
  process.env['OTEL_TRACES_SAMPLER'] ||= 'traceidratio';
  process.env['OTEL_TRACES_SAMPLER_ARG'] ||= '0.1';
}

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
