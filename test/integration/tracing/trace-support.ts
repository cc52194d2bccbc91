import { randomBytes } from 'node:crypto';

/** Settings of a test: every request is recorded, and nobody waits long for the collector. */
export const TRACED = {
  OTEL_TRACES_SAMPLER: 'always_on',
  OTEL_BSP_SCHEDULE_DELAY: '20',
};

/** The headers of a caller who has begun a trace. */
export function traced(flags = '00'): {
  headers: { traceparent: string };
  traceId: string;
  parentId: string;
} {
  const [traceId, parentId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { headers: { traceparent: `00-${traceId}-${parentId}-${flags}` }, traceId, parentId };
}
