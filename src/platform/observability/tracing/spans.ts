import { AsyncLocalStorage } from 'node:async_hooks';
import {
  ROOT_CONTEXT,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Link,
  type Span,
  type SpanContext,
  type SpanKind,
  type Tracer,
} from '@opentelemetry/api';
import { DomainError } from '../../errors/domain.error.js';
import { traceparentOf } from './trace-context.js';

export interface SpanBeginning {
  readonly kind?: SpanKind;
  readonly attributes?: Attributes;
  readonly links?: readonly Link[];
}

const MAX_NAME = 128;

/**
 * A piece of work in a trace. It records no events, and of an error only its name or code, because messages quote values. In a trace
 * that is not recorded it only passes its ids on.
 */
export class ServiceSpan {
  private hasFailed = false;

  private constructor(
    private readonly span: Span,
    private readonly tracer: Tracer,
  ) {}

  static start(
    tracer: Tracer,
    name: string,
    { links = [], ...beginning }: SpanBeginning,
    context: Context,
  ): ServiceSpan {
    const options = { ...beginning, links: [...links] };
    return new ServiceSpan(tracer.startSpan(name.slice(0, MAX_NAME), options, context), tracer);
  }

  child(name: string, beginning: SpanBeginning = {}): ServiceSpan {
    return ServiceSpan.start(this.tracer, name, beginning, trace.setSpan(ROOT_CONTEXT, this.span));
  }

  /** W3C Trace Context for the party that does a part of this work. */
  get traceparent(): string {
    return traceparentOf(this.spanContext());
  }

  spanContext(): SpanContext {
    return this.span.spanContext();
  }

  isRecording(): boolean {
    return this.span.isRecording();
  }

  setAttributes(attributes: Attributes): this {
    this.span.setAttributes(attributes);
    return this;
  }

  updateName(name: string): void {
    this.span.updateName(name.slice(0, MAX_NAME));
  }

  /** Marks the work as failed and records the code or name of the error, unless `fail` has given a reason. */
  recordException(error: unknown): void {
    if (!this.hasFailed) {
      this.fail(
        error instanceof DomainError ? error.code : error instanceof Error ? error.name : typeof error,
      );
    }
  }

  /** @param why a short constant of the service, never text from outside */
  fail(why: string): void {
    this.hasFailed = true;
    this.span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', why);
  }

  end(): void {
    this.span.end();
  }
}

const storage = new AsyncLocalStorage<ServiceSpan | undefined>();

/** The span of the work under way; undefined where there are no traces. */
export function currentSpan(): ServiceSpan | undefined {
  return storage.getStore();
}

/** The span of the work under way, in a trace that is recorded. */
export function recordedSpan(): ServiceSpan | undefined {
  const span = storage.getStore();
  return span?.isRecording() === true ? span : undefined;
}

/** Does work, and all that follows from it, as part of a span, or of none. Whoever began the span ends it. */
export function withSpan<Result>(span: ServiceSpan | undefined, work: () => Result): Result {
  return span === storage.getStore() ? work() : storage.run(span, work);
}

/**
 * Does work as a span of its own, a part of the span under way. Where nothing is recorded it only does the work.
 * @param name one of few
 * @throws what the work throws
 */
export function inSpan<Result>(
  name: string,
  beginning: SpanBeginning,
  work: (span?: ServiceSpan) => Promise<Result>,
): Promise<Result> {
  const parent = recordedSpan();
  return parent === undefined ? work() : recorded(parent.child(name, beginning), work);
}

/**
 * Does work that several share. Its span is a part of the first of theirs that is recorded, and linked to the others. Without one the
 * work belongs to no span, whoever it was that happened to begin it.
 */
export function inSharedSpan<Result>(
  name: string,
  sharers: readonly (ServiceSpan | undefined)[],
  work: () => Promise<Result>,
): Promise<Result> {
  const [first, ...others] = sharers.filter((span) => span?.isRecording() === true);
  if (first === undefined) {
    return withSpan(undefined, work);
  }
  const links = others.map((span) => ({ context: (span as ServiceSpan).spanContext() }));
  const attributes = { 'svc.shared.by': sharers.length };
  return recorded(first.child(name, { links, attributes }), work);
}

/** Does the work of a span, and ends it. */
export async function recorded<Result>(
  span: ServiceSpan,
  work: (span: ServiceSpan) => Promise<Result>,
): Promise<Result> {
  try {
    return await withSpan(span, () => work(span));
  } catch (error) {
    span.recordException(error);
    throw error;
  } finally {
    span.end();
  }
}
