import { setTimeout as sleep } from 'node:timers/promises';
import type { Attributes } from '@opentelemetry/api';
import { Counter, type Registry } from 'prom-client';
import type { Log } from '../logging/log.js';
import type { OutboundClient } from '../outbound/outbound.client.js';
import { LASTING, toOutboundError } from '../outbound/outbound.error.js';
import { SERVICE_NAME, SERVICE_VERSION } from '../service-version.js';
import type { TlsMaterial } from '../tls/tls-material.js';
import { withSpan } from '../tracing/active-span.js';
import type { ServiceSpan, SpanSink } from '../tracing/service-span.js';
import { within } from '../within.js';
import { otlpJson } from './otlp-json.js';

/** Where spans go, and what they may take. */
export interface ExportOptions {
  readonly url: string;
  /** In lower case; may hold secrets. */
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsMaterial | undefined;
  readonly resource: Attributes;
  /** Milliseconds for one batch. */
  readonly timeoutMs: number;
  /** Longest milliseconds that a span waits for others. */
  readonly delayMs: number;
  /** Spans in one batch. */
  readonly batch: number;
  /** Spans that wait; more are dropped. */
  readonly queue: number;
}

/** Why spans were not taken, in words of ours, and whether they may be the next time. */
interface ExportFailure {
  readonly reason: string;
  readonly mayPass: boolean;
}

/** Statuses after which the same may be sent again (OpenTelemetry Protocol 1.9, "Retryable Response Codes"). */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const RETRIES = 2;
/** Nothing of an answer is used. */
const MAX_ANSWER_BYTES = 65_536;
const SCOPE = { name: SERVICE_NAME, version: SERVICE_VERSION };

/**
 * Sends spans to a collector, batch after batch, by OTLP over HTTP. Nobody ever waits for it: while the collector is away or slow, spans
 * queue up to their bound, and what comes then is dropped and counted. A batch that was not taken after some tries is dropped, too.
 */
export class TraceExporter implements SpanSink {
  private waiting: ServiceSpan[] = [];
  private timer: NodeJS.Timeout | undefined;
  private sending: Promise<void> | undefined;
  private hasFailed = false;
  private endsAt: number | undefined;
  private readonly stopping = new AbortController();
  private readonly counts: Counter<'outcome'>;

  constructor(
    private readonly options: ExportOptions,
    private readonly outbound: OutboundClient,
    private readonly log: Log,
    registry: Registry,
  ) {
    this.counts = new Counter({
      name: 'svc_trace_spans_total',
      help: 'Spans of recorded traces: exported to the collector, dropped because too many waited, failed because the collector did not take them.',
      labelNames: ['outcome'],
      registers: [registry],
    });
    ['exported', 'dropped', 'failed'].forEach((outcome) => this.counts.inc({ outcome }, 0));
  }

  add(span: ServiceSpan): void {
    if (this.waiting.length >= this.options.queue) {
      this.counts.inc({ outcome: 'dropped' });
      return;
    }
    this.waiting.push(span);
    this.schedule();
  }

  /** Sends what waits at the stop, with the time of one batch for all of it, however often it is asked; the rest is dropped. */
  async flush(): Promise<void> {
    this.stopping.abort();
    const endsAt = (this.endsAt ??= performance.now() + this.options.timeoutMs);
    do {
      this.send();
      await within(endsAt - performance.now(), this.sending ?? Promise.resolve(), () => undefined);
    } while (this.waiting.length > 0 && performance.now() < endsAt);
    this.counts.inc({ outcome: 'dropped' }, this.waiting.splice(0).length);
  }

  private schedule(): void {
    if (this.waiting.length >= this.options.batch) {
      this.send();
    } else if (this.waiting.length > 0) {
      this.timer ??= setTimeout(() => this.send(), this.options.delayMs).unref();
    }
  }

  /** One batch at a time, so that a collector that takes long has no more of our work than that. */
  private send(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.sending === undefined && this.waiting.length > 0) {
      const batch = this.waiting.splice(0, this.options.batch);
      // What it logs and calls is part of no trace, whichever span happened to fill the batch.
      this.sending = withSpan(undefined, () => this.exported(batch)).finally(() => {
        this.sending = undefined;
        this.schedule();
      });
    }
  }

  /** Never rejects. */
  private async exported(spans: readonly ServiceSpan[]): Promise<void> {
    const body = otlpJson(spans, this.options.resource, SCOPE);
    const { signal } = this.stopping;
    let why = await this.failureOf(body);
    for (let retry = 0; retry < RETRIES && why?.mayPass === true && !signal.aborted; retry += 1) {
      this.tell(why);
      const { delayMs } = this.options;
      await sleep(delayMs * 2 ** retry, undefined, { ref: false, signal }).catch(() => undefined);
      why = await this.failureOf(body);
    }
    this.counts.inc({ outcome: why === undefined ? 'exported' : 'failed' }, spans.length);
    this.tell(why);
  }

  private tell(failure: ExportFailure | undefined): void {
    if (failure !== undefined && !this.hasFailed) {
      this.log.warn('traces cannot be exported', { reason: failure.reason });
    } else if (failure === undefined && this.hasFailed) {
      this.log.info('traces are exported again');
    }
    this.hasFailed = failure !== undefined;
  }

  private async failureOf(body: string): Promise<ExportFailure | undefined> {
    const { url, headers, tls, timeoutMs: deadlineMs } = this.options;
    const limits = { deadlineMs, maxResponseBytes: MAX_ANSWER_BYTES, maxTotalBytes: MAX_ANSWER_BYTES };
    const init = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body };
    try {
      const status = await this.outbound.run(
        limits,
        async (operation) => {
          const response = await operation.fetch(url, init);
          await response.body?.cancel();
          return response.status;
        },
        tls,
      );
      return status >= 200 && status < 300
        ? undefined
        : { reason: `status ${status}`, mayPass: RETRYABLE.has(status) };
    } catch (error) {
      const { failure } = toOutboundError(error);
      return { reason: failure, mayPass: !LASTING.has(failure) };
    }
  }
}
