import { SpanKind } from '@opentelemetry/api';
import type { JsonObject } from '#engine/json';
import { currentSpan, recorded, withSpan } from '../../platform/observability/tracing/spans.js';
import { readTraceparent } from '../../platform/observability/tracing/trace-context.js';
import type { JobOrigin, Tracer } from '../../platform/observability/tracing/tracer.js';
import type { Job, NewJob } from './job-queue.types.js';

/** Payload members that carry a trace. Handlers do not see them as input. */
const PART_OF = 'partOfTrace';
const CAUSED_BY = 'ledToByTrace';

/**
 * Adds the current trace to the payload of a new job, so that any replica can continue it. A job that is due immediately joins the
 * trace. A later job gets its own trace with a link, since it may run in a year or repeat for ever.
 */
export function withTrace(
  { payload, availableAt }: Pick<NewJob, 'payload' | 'availableAt'>,
  now: Date,
): JsonObject {
  const span = currentSpan();
  if (span === undefined && !(PART_OF in payload) && !(CAUSED_BY in payload)) {
    return payload;
  }
  const { [PART_OF]: _formerPart, [CAUSED_BY]: _formerCause, ...own } = payload;
  const name = availableAt.getTime() > now.getTime() ? CAUSED_BY : PART_OF;
  return span === undefined ? own : { ...own, [name]: span.traceparent };
}

/** Runs a job in a span (OpenTelemetry Semantic Conventions, "Messaging") when tracing is on. */
export function asJobSpan<Result>(tracer: Tracer, job: Job, run: () => Promise<Result>): Promise<Result> {
  const span = tracer.job(`job ${job.kind}`, originOf(job.payload), {
    kind: SpanKind.CONSUMER,
    attributes: {
      'messaging.system': 'svc-platform',
      'messaging.operation.type': 'process',
      'messaging.destination.name': job.kind,
      'messaging.message.id': String(job.id),
      'svc.job.attempt': job.attempts,
    },
  });
  return span?.isRecording() === true ? recorded(span, run) : withSpan(span, run);
}

function originOf(payload: JsonObject): JobOrigin | undefined {
  const part = readTraceparent(payload[PART_OF]);
  const cause = readTraceparent(payload[CAUSED_BY]);
  const context = part ?? cause;
  return context && { context, isPart: part !== undefined };
}
