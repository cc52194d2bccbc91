import {
  ROOT_CONTEXT,
  trace,
  type Context,
  type SpanContext,
  type Tracer as SpanMaker,
} from '@opentelemetry/api';
import { ServiceSpan, type SpanBeginning } from './spans.js';
import { isSampled, newSpanId, newTraceId } from './trace-context.js';

/** The work that added a background job. */
export interface JobOrigin {
  readonly context: SpanContext;
  /** Whether the job is a part of that work, or starts a trace of its own. */
  readonly isPart: boolean;
}

/** Gives the next root span the ids of its request, and all others random ones. */
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

/** Where spans come from. Its sampler decides which traces are recorded. */
export interface SpanSource {
  readonly tracer: SpanMaker;
  readonly ids: SpanIds;
}

/** Starts traces, or continues those of others: with a request, and with a background job. All other spans are parts of these. */
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

  /** The span of a background job. A part of other work is recorded where that work is. */
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

/** To the work that added a job without being its parent, where that work is recorded. */
function linksTo(origin: JobOrigin | undefined): { context: SpanContext }[] {
  return origin?.isPart === false && isSampled(origin.context) ? [{ context: origin.context }] : [];
}
