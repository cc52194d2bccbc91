import { randomUUID } from 'node:crypto';
import { TraceFlags, type SpanContext } from '@opentelemetry/api';

const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;
/** The second half of a UUID begins with its variant, so it is never zero, which Trace Context forbids. */
const SPAN_ID_START = 16;

/** Parses a `traceparent` header (W3C Trace Context, section 3.2); returns undefined when it is absent or malformed. */
export function readTraceparent(text: unknown): SpanContext | undefined {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(typeof text === 'string' ? text : '') ?? [];
  return traceId === undefined || spanId === undefined
    ? undefined
    : { traceId, spanId, traceFlags: Number.parseInt(flags ?? '0', 16), isRemote: true };
}

/** Formats a `traceparent` header. */
export function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

/** Reports whether the sender records the trace. */
export function isSampled({ traceFlags }: SpanContext): boolean {
  return (traceFlags & TraceFlags.SAMPLED) !== 0;
}

/** Generates a trace id. Uses a UUID, because Node.js caches random bytes for UUIDs, which makes them the cheapest source. */
export function newTraceId(): string {
  return randomUUID().replaceAll('-', '');
}

export function newSpanId(): string {
  return newTraceId().slice(SPAN_ID_START);
}
