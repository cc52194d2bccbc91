import {
  SpanKind,
  SpanStatusCode,
  type Attributes,
  type AttributeValue,
  type Link,
  type Span,
  type SpanContext,
  type SpanStatus,
} from '@opentelemetry/api';
import { DomainError } from '../errors/domain.error.js';
import { newSpanId, traceparentOf } from './trace-context.js';

/** Takes spans that have ended. It must not throw, wait, or keep more than it has room for. */
export interface SpanSink {
  add(span: ServiceSpan): void;
}

/** What a span is begun with. */
export interface SpanBeginning {
  readonly kind?: SpanKind;
  readonly attributes?: Attributes;
  readonly links?: readonly Link[];
}

/** Where a span stands. */
interface SpanPlace {
  readonly context: SpanContext;
  readonly parentSpanId: string | undefined;
  /** Milliseconds from the clock of `performance.now()` to the time of day, the same for all spans of one beginning. */
  readonly offsetMs: number;
  /** Absent in a trace that is not recorded. */
  readonly sink: SpanSink | undefined;
}

const MAX_ATTRIBUTES = 64;
const MAX_LINKS = 128;
/** Characters of one value. */
const MAX_TEXT = 1_024;
const MAX_NAME = 128;

/**
 * A piece of work in a trace, as the API of OpenTelemetry has it. Size and number of all that it holds are bounded. It keeps no events,
 * and of an error nothing but the name: messages quote values. In a trace that is not recorded it only hands on its ids.
 */
export class ServiceSpan implements Span {
  readonly kind: SpanKind;
  readonly attributes: Record<string, AttributeValue> = {};
  readonly links: Link[] = [];
  readonly startedMs = performance.now();
  private endedAtMs: number | undefined;
  private told: SpanStatus = { code: SpanStatusCode.UNSET };
  private attributeCount = 0;

  constructor(
    private title: string,
    readonly place: SpanPlace,
    { kind = SpanKind.INTERNAL, attributes = {}, links = [] }: SpanBeginning = {},
  ) {
    this.kind = kind;
    this.updateName(title);
    this.setAttributes(attributes);
    this.addLinks(links);
  }

  /** A part of this work. */
  child(name: string, beginning?: SpanBeginning): ServiceSpan {
    const { context, offsetMs, sink } = this.place;
    const own = { ...context, spanId: newSpanId(), isRemote: false };
    return new ServiceSpan(name, { context: own, parentSpanId: context.spanId, offsetMs, sink }, beginning);
  }

  get name(): string {
    return this.title;
  }

  get status(): Readonly<SpanStatus> {
    return this.told;
  }

  /** On the clock of `performance.now()`; that of the beginning while it lasts. */
  get endedMs(): number {
    return this.endedAtMs ?? this.startedMs;
  }

  /** W3C Trace Context for whoever does a part of this work elsewhere. */
  get traceparent(): string {
    return traceparentOf(this.place.context);
  }

  spanContext(): SpanContext {
    return this.place.context;
  }

  isRecording(): boolean {
    return this.place.sink !== undefined && this.endedAtMs === undefined;
  }

  setAttribute(key: string, value: AttributeValue): this {
    if (this.isRecording() && (key in this.attributes || this.attributeCount < MAX_ATTRIBUTES)) {
      this.attributeCount += key in this.attributes ? 0 : 1;
      this.attributes[key] = typeof value === 'string' ? value.slice(0, MAX_TEXT) : value;
    }
    return this;
  }

  setAttributes(attributes: Attributes): this {
    for (const [key, value] of Object.entries(attributes)) {
      if (value !== undefined) {
        this.setAttribute(key, value);
      }
    }
    return this;
  }

  addLink(link: Link): this {
    if (this.isRecording() && this.links.length < MAX_LINKS) {
      this.links.push({ context: link.context });
    }
    return this;
  }

  addLinks(links: readonly Link[]): this {
    links.forEach((link) => this.addLink(link));
    return this;
  }

  /** Events are not kept: what happens is a span, or a line of the log. */
  addEvent(): this {
    return this;
  }

  setStatus({ code }: SpanStatus): this {
    this.told = { code };
    return this;
  }

  updateName(name: string): this {
    this.title = name.slice(0, MAX_NAME);
    return this;
  }

  /** Notes that the work failed, and what kind of error it was: its code where we have given it one. What `fail` has told stays. */
  recordException(error: unknown): void {
    if (this.told.code === SpanStatusCode.ERROR) {
      return;
    }
    this.fail(error instanceof DomainError ? error.code : error instanceof Error ? error.name : typeof error);
  }

  /** @param why one of few words of our own making */
  fail(why: string): this {
    return this.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', why);
  }

  end(): void {
    if (this.isRecording()) {
      this.endedAtMs = performance.now();
      this.place.sink?.add(this);
    }
  }
}
