import { SpanStatusCode, type AttributeValue, type Attributes } from '@opentelemetry/api';
import type { ServiceSpan } from '../tracing/service-span.js';

const NANOS_OF_MS = 1e6;
/** `SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK` and `SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK` are not told; the low byte has the W3C flags. */
const FLAGS = 0xff;

/**
 * Spans as OTLP writes them in JSON (OpenTelemetry Protocol 1.9, "JSON Protobuf Encoding"): an `ExportTraceServiceRequest`.
 * @param resource who they are of
 * @param scope name and version of what made them
 */
export function otlpJson(
  spans: readonly ServiceSpan[],
  resource: Attributes,
  scope: { readonly name: string; readonly version: string },
): string {
  return JSON.stringify({
    resourceSpans: [
      { resource: { attributes: keyValues(resource) }, scopeSpans: [{ scope, spans: spans.map(spanJson) }] },
    ],
  });
}

function spanJson(span: ServiceSpan): object {
  const { context, parentSpanId, offsetMs } = span.place;
  const { traceId, spanId, traceFlags } = context;
  return {
    traceId,
    spanId,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    flags: traceFlags & FLAGS,
    name: span.name,
    // Both count the kinds alike, but OTLP begins with UNSPECIFIED.
    kind: span.kind + 1,
    startTimeUnixNano: nanos(offsetMs + span.startedMs),
    endTimeUnixNano: nanos(offsetMs + span.endedMs),
    attributes: keyValues(span.attributes),
    links: span.links.map((link) => ({
      traceId: link.context.traceId,
      spanId: link.context.spanId,
      flags: link.context.traceFlags & FLAGS,
    })),
    status: span.status.code === SpanStatusCode.UNSET ? {} : { code: span.status.code },
  };
}

/** Nanoseconds as text: they are more than a number can hold. */
function nanos(ms: number): string {
  const whole = Math.floor(ms);
  const rest = Math.floor((ms - whole) * NANOS_OF_MS);
  return `${whole}${String(rest).padStart(6, '0')}`;
}

function keyValues(attributes: Attributes): object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: anyValue(value) }],
  );
}

function anyValue(value: AttributeValue): object {
  if (Array.isArray(value)) {
    const items = value as readonly (string | number | boolean | null | undefined)[];
    return {
      arrayValue: {
        values: items.flatMap((item) => (item === null || item === undefined ? [] : [anyValue(item)])),
      },
    };
  }
  switch (typeof value) {
    case 'boolean':
      return { boolValue: value };
    case 'number':
      return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
    default:
      return { stringValue: String(value) };
  }
}
