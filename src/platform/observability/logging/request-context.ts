import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';
import { currentSpan } from '../tracing/spans.js';
import { newSpanId, newTraceId, readTraceparent, traceparentOf } from '../tracing/trace-context.js';

/** Data of a request that log lines, audit events and outbound calls need. */
export interface RequestContext {
  /** Unique id, generated for each request. */
  readonly requestId: string;
  /** The X-Request-Id header of the caller, if well-formed. */
  readonly callerRequestId: string | undefined;
  /** Trace id, 32 hexadecimal digits. */
  readonly traceId: string;
  /** W3C Trace Context of the service's part of the trace: `00-<trace id>-<span id>-<flags>`. */
  readonly traceparent: string;
  /** When the request arrived, on the clock of `performance.now()`. */
  readonly receivedAt: number;
  /** Whether the request has stored anything. If so, an error response must not claim that nothing was stored. */
  hasStored: boolean;
  refusal?: string;
  /** Aborted when the response has been sent or its connection is closed. */
  readonly over: AbortSignal;
}

const REQUEST_ID = /^[\w-]{8,64}$/;

const storage = new AsyncLocalStorage<RequestContext>();

/** Returns the context of the current request; undefined in background work. */
export function requestContext(): RequestContext | undefined {
  return storage.getStore();
}

/** Returns the W3C Trace Context for outbound calls: that of the current span, or else of the request. */
export function outgoingTraceparent(): string | undefined {
  return currentSpan()?.traceparent ?? requestContext()?.traceparent;
}

/** Records that a transaction of the current request was committed. */
export function noteStored(): void {
  const context = requestContext();
  if (context !== undefined) {
    context.hasStored = true;
  }
}

/**
 * Express middleware that must run first. It gives each request an id, continues a well-formed traceparent (W3C Trace
 * Context, section 3.2) or begins a trace. The response repeats a well-formed X-Request-Id of the caller, or has the new id.
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
    // Created on demand, because most requests do not use it.
    get over() {
      return (over ??= closeSignal(response));
    },
  };
  storage.run(context, next);
}

/**
 * Returns a signal that is aborted when a response is closed. Node.js does not close a response that is queued behind another
 * one of its connection, but `StopGate` does.
 */
function closeSignal(response: Response): AbortSignal {
  const controller = new AbortController();
  if (response.closed || response.req.socket.destroyed) {
    controller.abort();
  } else {
    response.once('close', () => controller.abort());
  }
  return controller.signal;
}
