import { TraceFlags, type SpanContext } from '@opentelemetry/api';
import type { Clock } from '../clock.js';
import { ServiceSpan, type SpanBeginning, type SpanSink } from './service-span.js';
import { isSampled, newSpanId, newTraceId } from './trace-context.js';

/** Which traces are recorded. */
export interface Sampling {
  /** Share of the traces that begin here, from 0 to 1. */
  readonly share: number;
  /** Whether callers decide about the traces that they have begun. */
  readonly callersDecide: boolean;
}

/** What a background job goes on from. */
export interface JobOrigin {
  readonly context: SpanContext;
  /** Whether the job is a part of that work, or a trace of its own that the work has led to. */
  readonly isPart: boolean;
}

/** What a tracer works with. */
export interface TracerOptions {
  readonly sampling: Sampling;
  readonly sink: SpanSink;
  readonly clock: Clock;
}

interface Ids {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
}

/** Begins traces, or goes on with those of others: with a request, and with a background job. All else is a part of these. */
export class Tracer {
  /** @param options absent: there are no traces */
  constructor(private readonly options?: TracerOptions) {}

  get isOn(): boolean {
    return this.options !== undefined;
  }

  /**
   * The span of a request. Callers choose the ids of their traces, so ids decide nothing: what is recorded is drawn by lot, unless
   * callers decide.
   * @param own the ids that were given to the request
   * @param caller what the caller says of its own work
   */
  request(
    { traceId, spanId }: SpanContext,
    caller: SpanContext | undefined,
    beginning: SpanBeginning,
  ): ServiceSpan | undefined {
    const { options } = this;
    if (options === undefined) {
      return undefined;
    }
    const { callersDecide } = options.sampling;
    const isRecorded = caller !== undefined && callersDecide ? isSampled(caller) : isDrawn(options);
    const ids = { traceId, spanId, parentSpanId: caller?.spanId };
    return begun(options, 'request', ids, isRecorded, beginning);
  }

  /** The span of a background job. A part of other work is recorded where that is; the rest is drawn by lot. */
  job(name: string, origin: JobOrigin | undefined, beginning: SpanBeginning): ServiceSpan | undefined {
    const { options } = this;
    if (options === undefined) {
      return undefined;
    }
    const parent = origin?.isPart === true ? origin.context : undefined;
    const ids = {
      traceId: parent?.traceId ?? newTraceId(),
      spanId: newSpanId(),
      parentSpanId: parent?.spanId,
    };
    const isRecorded = parent === undefined ? isDrawn(options) : isSampled(parent);
    return begun(options, name, ids, isRecorded, { ...beginning, links: linksTo(origin) });
  }
}

/** To what added a job that is no part of it, where that is recorded. */
function linksTo(origin: JobOrigin | undefined): { context: SpanContext }[] {
  return origin?.isPart === false && isSampled(origin.context) ? [{ context: origin.context }] : [];
}

function isDrawn({ sampling }: TracerOptions): boolean {
  return Math.random() < sampling.share;
}

function begun(
  { clock, sink }: TracerOptions,
  name: string,
  { traceId, spanId, parentSpanId }: Ids,
  isRecorded: boolean,
  beginning: SpanBeginning,
): ServiceSpan {
  const traceFlags = isRecorded ? TraceFlags.SAMPLED : TraceFlags.NONE;
  const place = {
    context: { traceId, spanId, traceFlags },
    parentSpanId,
    offsetMs: clock.now().getTime() - performance.now(),
    sink: isRecorded ? sink : undefined,
  };
  return new ServiceSpan(name, place, beginning);
}
