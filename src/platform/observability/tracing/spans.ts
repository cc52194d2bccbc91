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

/** Options of a new span. */
export interface SpanBeginning {
  readonly kind?: SpanKind;
  readonly attributes?: Attributes;
  readonly links?: readonly Link[];
}

const MAX_NAME = 128;

/**
 * A span of the service. It records no events, and only the name or code of an error, because messages quote values. If its
 * trace is not recorded, the span only propagates its ids.
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

  /** W3C Trace Context for calls that are part of this work. */
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

  /** Marks the work as failed. @param why a short constant of the service, never external text */
  fail(why: string): void {
    this.hasFailed = true;
    this.span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', why);
  }

  end(): void {
    this.span.end();
  }
}

const storage = new AsyncLocalStorage<ServiceSpan | undefined>();

/** Returns the current span; undefined when tracing is off. */
export function currentSpan(): ServiceSpan | undefined {
  return storage.getStore();
}

/** Returns the current span if its trace is recorded. */
export function recordedSpan(): ServiceSpan | undefined {
  const span = storage.getStore();
  return span?.isRecording() === true ? span : undefined;
}

/** Runs work, and everything it triggers, in a span or in none. Does not end the span. */
export function withSpan<Result>(span: ServiceSpan | undefined, work: () => Result): Result {
  return span === storage.getStore() ? work() : storage.run(span, work);
}

/**
 * Runs work in a child of the current span. If nothing is recorded, only runs the work.
 * @param name one of a small set of names
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
 * Runs work that several callers share. Its span is a child of the first recorded span among theirs, and has links to the
 * others. If none is recorded, the work runs without a span.
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

/** Runs work in a span, and ends the span. */
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
