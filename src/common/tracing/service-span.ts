import {
  ROOT_CONTEXT,
  SpanStatusCode,
  trace,
  type Attributes,
  type AttributeValue,
  type Context,
  type Link,
  type Span,
  type SpanContext,
  type SpanKind,
  type Tracer,
} from '@opentelemetry/api';
import { DomainError } from '../errors/domain.error.js';
import { traceparentOf } from './trace-context.js';

/** What a span starts with. */
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

  /** @param context holds the parent, where there is one */
  static start(
    tracer: Tracer,
    name: string,
    { links = [], ...beginning }: SpanBeginning,
    context: Context,
  ): ServiceSpan {
    const options = { ...beginning, links: [...links] };
    return new ServiceSpan(tracer.startSpan(name.slice(0, MAX_NAME), options, context), tracer);
  }

  /** Starts a part of this work. */
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

  setAttribute(key: string, value: AttributeValue): this {
    this.span.setAttribute(key, value);
    return this;
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
