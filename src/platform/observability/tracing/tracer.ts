import {
  ROOT_CONTEXT,
  trace,
  type Context,
  type SpanContext,
  type Tracer as SpanMaker,
} from '@opentelemetry/api';
import { ServiceSpan, type SpanBeginning } from './spans.js';
import { isSampled, newSpanId, newTraceId } from './trace-context.js';

/** The span of the work that added a background job. */
export interface JobOrigin {
  readonly context: SpanContext;
  /** Whether the job is part of that trace, or starts its own. */
  readonly isPart: boolean;
}

/** Generates the ids of spans: random ones, except for spans that are started within `with`. */
export class SpanIds {
  private given: SpanContext | undefined;

  readonly generateTraceId = (): string => this.given?.traceId ?? newTraceId();
  readonly generateSpanId = (): string => this.given?.spanId ?? newSpanId();

  with<Result>(ids: SpanContext | undefined, start: () => Result): Result {
    this.given = ids;
    try {
      return start();
    } finally {
      this.given = undefined;
    }
  }
}

/** Creates spans. Its sampler decides which traces are recorded. */
export interface SpanSource {
  readonly tracer: SpanMaker;
  readonly ids: SpanIds;
}

/** Starts the spans of requests and background jobs, in a new or an existing trace. All other spans are their descendants. */
export class Tracer {
  constructor(private readonly source?: SpanSource) {}

  get isOn(): boolean {
    return this.source !== undefined;
  }

  request(
    own: SpanContext,
    caller: SpanContext | undefined,
    beginning: SpanBeginning,
  ): ServiceSpan | undefined {
    return this.start('request', caller && { ...caller, isRemote: true }, beginning, own);
  }

  /** Starts the span of a background job. A job that is part of other work is recorded if that work is. */
  job(name: string, origin: JobOrigin | undefined, beginning: SpanBeginning): ServiceSpan | undefined {
    const parent = origin?.isPart === true ? { ...origin.context, isRemote: false } : undefined;
    return this.start(name, parent, { ...beginning, links: linksTo(origin) });
  }

  private start(
    name: string,
    parent: SpanContext | undefined,
    beginning: SpanBeginning,
    own?: SpanContext,
  ): ServiceSpan | undefined {
    const context: Context = parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
    const { source } = this;
    return source?.ids.with(own, () => ServiceSpan.start(source.tracer, name, beginning, context));
  }
}

/** Links a job that has its own trace to the work that added it, if that work is recorded. */
function linksTo(origin: JobOrigin | undefined): { context: SpanContext }[] {
  return origin?.isPart === false && isSampled(origin.context) ? [{ context: origin.context }] : [];
}
