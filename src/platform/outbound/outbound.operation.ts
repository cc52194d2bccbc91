import type { TlsMaterial } from '../tls/tls-material.js';
import type { AddressPolicy } from './address-policy.js';
import { dial, type KeptSockets, redirectTarget } from './dial.js';
import type { DialledResponse } from './outbound.types.js';
import type { Bulkhead, Place } from '../concurrency/bulkhead.js';
import { countElements, meteredBody, ResponseMeter } from './metered-body.js';
import { FATAL, OutboundError, toOutboundError } from './outbound.error.js';

export interface OperationLimits {
  /** Milliseconds from opening the operation until all its calls are aborted. */
  deadlineMs: number;
  /** Upper limit of the deadline including {@link OutboundOperation.prolong}. @default deadlineMs */
  maxDeadlineMs?: number;
  /** Decoded bytes of one response, or of one event of an event stream. */
  maxResponseBytes: number;
  /** Decoded bytes of all responses together. */
  maxTotalBytes: number;
  /** Commas and opening brackets of all responses, since a parsed `{},` takes about 60 bytes. @default no limit */
  maxElements?: number;
}

interface OperationContext {
  policy: AddressPolicy;
  maxRedirects: number;
  largeAnswers?: Bulkhead;
}

/** Maximum size of a small response. Small responses never wait for large ones. */
export const LIGHT_BYTES = 65_536;

/** Minimum gain of an extension, as a share of its length, so that frequent calls seldom restart the timer. */
const MIN_GAIN = 0.1;

const NULL_BODY_STATUS = new Set([204, 205, 304]);

/** Calls to outside parties that share a deadline and limits. Targets are checked, and responses are uncompressed and metered. */
export class OutboundOperation {
  private readonly controller = new AbortController();
  private readonly latestDeadline: number;
  private deadline: number;
  private timer: NodeJS.Timeout;
  /** Decoded bytes of all responses so far. */
  bytesRead = 0;
  private totalElements = 0;
  private place: Place | undefined;
  /** Latest failure of a call, even if the library that made the call swallowed or replaced the error. */
  failure: OutboundError | undefined;

  constructor(
    private readonly context: OperationContext,
    private readonly limits: OperationLimits,
    private readonly sockets: KeptSockets,
    private readonly atEnd: 'closes sockets' | 'leaves sockets',
  ) {
    const { deadlineMs, maxDeadlineMs = deadlineMs } = limits;
    this.deadline = performance.now() + deadlineMs;
    this.latestDeadline = performance.now() + Math.max(deadlineMs, maxDeadlineMs);
    this.timer = this.startTimer(deadlineMs);
  }

  /**
   * Extends the deadline to this many milliseconds from now, at most to `maxDeadlineMs` of the limits.
   * @returns whether the deadline moved; it never moves back, and ignores very small extensions
   */
  prolong(ms: number): boolean {
    const deadline = Math.min(performance.now() + ms, this.latestDeadline);
    const gain = deadline - this.deadline;
    if (this.signal.aborted || gain <= 0 || (gain < ms * MIN_GAIN && deadline < this.latestDeadline)) {
      return false;
    }
    this.deadline = deadline;
    clearTimeout(this.timer);
    this.timer = this.startTimer(this.remainingMs);
    return true;
  }

  /** Aborted with an OutboundError when the deadline passes, a limit is exceeded or the operation is closed. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Certificates used for its connections. */
  get tls(): TlsMaterial | undefined {
    return this.sockets.tls;
  }

  /** Milliseconds left, never negative. */
  get remainingMs(): number {
    return Math.max(0, this.deadline - performance.now());
  }

  /**
   * Guarded `fetch` for text bodies. It follows redirects itself, so callers never get a 3xx redirect.
   * @throws OutboundError, or the reason of `init.signal`
   */
  readonly fetch = async (input: string | URL, init: RequestInit = {}): Promise<Response> => {
    try {
      return await this.follow(new URL(input), init);
    } catch (error) {
      throw this.record(error, init.signal);
    }
  };

  /** Settles as `work` does, but rejects as soon as the operation fails or is closed. */
  race<T>(work: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const end = (): void => reject(this.signal.reason as Error);
      if (this.signal.aborted) {
        end();
      } else {
        this.signal.addEventListener('abort', end);
      }
      void work.then(resolve, reject).finally(() => this.signal.removeEventListener('abort', end));
    });
  }

  /** Aborts calls in progress, closes the sockets if the operation owns them, and releases its place among large responses. */
  async close(): Promise<void> {
    clearTimeout(this.timer);
    this.controller.abort(new OutboundError('closed'));
    if (this.atEnd === 'closes sockets') {
      await this.sockets.close();
    }
    this.place?.leave();
  }

  private startTimer(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.fail(new OutboundError('timeout')), ms);
  }

  private async follow(url: URL, init: RequestInit): Promise<Response> {
    let target = url;
    const policy = this.context.policy.forApp(this.sockets.tls?.app);
    const ends = init.signal ? AbortSignal.any([this.signal, init.signal]) : this.signal;
    for (let hop = 0; ; hop += 1) {
      policy.checkUrl(target);
      const response = await dial(this.sockets, target, init, ends, this.latestDeadline - performance.now());
      const location = redirectTarget(response, target, init.method ?? 'GET');
      if (location === undefined) {
        return this.guard(response, init.signal);
      }
      response.body.destroy();
      if (hop >= this.context.maxRedirects) {
        throw new OutboundError('redirect');
      }
      target = location;
    }
  }

  private guard(
    { status, headers, body }: DialledResponse,
    signal: AbortSignal | null | undefined,
  ): Response {
    if ((headers.get('content-encoding') ?? 'identity').toLowerCase() !== 'identity') {
      body.destroy();
      throw new OutboundError('encoding');
    }
    if (Number(headers.get('content-length') ?? 0) > this.limits.maxResponseBytes) {
      body.destroy();
      throw new OutboundError('too_large');
    }
    if (NULL_BODY_STATUS.has(status)) {
      body.destroy();
      return new Response(null, { status, headers });
    }
    const streams = /^text\/event-stream\b/i.test(headers.get('content-type') ?? '');
    const meter = new ResponseMeter(this.limits.maxResponseBytes, streams);
    const guarded = meteredBody(
      body,
      (chunk) => this.admit(chunk, meter),
      (error) => this.record(error, signal),
    );
    return new Response(guarded, { status, headers });
  }

  private async admit(chunk: Uint8Array, meter: ResponseMeter): Promise<void> {
    const { maxTotalBytes, maxElements } = this.limits;
    meter.add(chunk);
    this.bytesRead += chunk.byteLength;
    this.totalElements += maxElements === undefined ? 0 : countElements(chunk);
    if (this.bytesRead > maxTotalBytes || this.totalElements > (maxElements ?? Infinity)) {
      throw new OutboundError('too_large');
    }
    if (this.bytesRead > LIGHT_BYTES) {
      this.signal.throwIfAborted();
      this.place ??= this.context.largeAnswers?.enter({
        signal: this.signal,
        onRevoke: () => this.fail(new OutboundError('busy')),
      });
      await this.place?.admitted;
    }
  }

  /** Records a failure, unless the caller aborted the call. Returns the error to throw. */
  private record(error: unknown, signal: AbortSignal | null | undefined): unknown {
    if (signal?.aborted === true && !this.signal.aborted) {
      return error;
    }
    const failure = toOutboundError(this.signal.aborted ? this.signal.reason : error);
    if (failure.failure !== 'closed') {
      this.failure = failure;
    }
    if (FATAL.has(failure.failure)) {
      this.fail(failure);
    }
    return failure;
  }

  private fail(error: OutboundError): void {
    if (!this.signal.aborted) {
      this.failure = error;
      this.controller.abort(error);
    }
  }
}
