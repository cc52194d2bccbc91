import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';
import { currentSpan } from '../tracing/spans.js';
import { newSpanId, newTraceId, readTraceparent, traceparentOf } from '../tracing/trace-context.js';

/** What belongs to one request and is needed far from it: in log lines, audit events and outbound calls. */
export interface RequestContext {
  /** Made here for each request, so that it names one request only. */
  readonly requestId: string;
  /** The X-Request-Id that the caller sent, if it is well-formed. */
  readonly callerRequestId: string | undefined;
  /** Trace that the request belongs to, 32 hexadecimal digits. */
  readonly traceId: string;
  /** W3C Trace Context of our part of the trace: `00-<trace id>-<our span id>-<flags>`. */
  readonly traceparent: string;
  /** When the request came, on the monotonic clock of this process (`performance.now()`). */
  readonly receivedAt: number;
  /** Whether something that was asked for is stored: from then on nobody may be told that nothing is. */
  hasStored: boolean;
  refusal?: string;
  /** Aborted when the answer is sent, or when its connection is gone and nobody waits for it any more. */
  readonly over: AbortSignal;
}

const REQUEST_ID = /^[\w-]{8,64}$/;

const storage = new AsyncLocalStorage<RequestContext>();

/** The context of the request being served; undefined in background work. */
export function requestContext(): RequestContext | undefined {
  return storage.getStore();
}

/** W3C Trace Context for whoever is called now: of the span under way, or else of the request. */
export function outgoingTraceparent(): string | undefined {
  return currentSpan()?.traceparent ?? requestContext()?.traceparent;
}

/** Notes that a transaction of the request being served is stored. */
export function noteStored(): void {
  const context = requestContext();
  if (context !== undefined) {
    context.hasStored = true;
  }
}

/**
 * Express middleware, the first of all. It gives each request an id, continues a well-formed traceparent (W3C Trace Context, section
 * 3.2) or begins a trace, and keeps a well-formed X-Request-Id of the caller, which the answer repeats. Without one the answer carries our own.
 */
export function requestContextMiddleware(request: Request, response: Response, next: NextFunction): void {
  const given = request.get('x-request-id');
  const callerRequestId = given !== undefined && REQUEST_ID.test(given) ? given : undefined;
  const requestId = randomUUID();
  response.setHeader('X-Request-Id', callerRequestId ?? requestId);
  const receivedAt = performance.now();
  const parent = readTraceparent(request.get('traceparent'));
  const { traceId, traceFlags } = parent ?? { traceId: newTraceId(), traceFlags: 0 };
  let over: AbortSignal | undefined;
  const context: RequestContext = {
    requestId,
    callerRequestId,
    receivedAt,
    hasStored: false,
    traceId,
    traceparent: traceparentOf({ traceId, traceFlags, spanId: newSpanId() }),
    // Most requests never ask for it.
    get over() {
      return (over ??= endOf(response));
    },
  };
  storage.run(context, next);
}

/** `StopGate` tells it also of a response that waits behind another one of its connection, which Node.js does not. */
function endOf(response: Response): AbortSignal {
  const controller = new AbortController();
  if (response.closed || response.req.socket.destroyed) {
    controller.abort();
  } else {
    response.once('close', () => controller.abort());
  }
  return controller.signal;
}
