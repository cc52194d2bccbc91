import { SpanKind } from '@opentelemetry/api';
import type { JsonObject } from '#engine/json';
import { currentSpan, recorded, withSpan } from '../../platform/observability/tracing/spans.js';
import { readTraceparent } from '../../platform/observability/tracing/trace-context.js';
import type { JobOrigin, Tracer } from '../../platform/observability/tracing/tracer.js';
import type { Job, NewJob } from './job-queue.types.js';

/** Properties of a payload. Handlers do not know them. */
const PART_OF = 'partOfTrace';
const LED_TO_BY = 'ledToByTrace';

/**
 * The payload of a job with the trace in which it is added, so that whichever replica runs it goes on with that. Work that is due at once is
 * a part of what added it. Work of a later time is a trace of its own: it may be due in a year, and may repeat for ever.
 */
export function withTrace(
  { payload, availableAt }: Pick<NewJob, 'payload' | 'availableAt'>,
  now: Date,
): JsonObject {
  const span = currentSpan();
  if (span === undefined && !(PART_OF in payload) && !(LED_TO_BY in payload)) {
    return payload;
  }
  const { [PART_OF]: _formerPart, [LED_TO_BY]: _formerCause, ...own } = payload;
  const name = availableAt.getTime() > now.getTime() ? LED_TO_BY : PART_OF;
  return span === undefined ? own : { ...own, [name]: span.traceparent };
}

/** Runs a job as a span (OpenTelemetry Semantic Conventions, "Messaging"), where there are traces. */
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
  const cause = readTraceparent(payload[LED_TO_BY]);
  const context = part ?? cause;
  return context && { context, isPart: part !== undefined };
}
