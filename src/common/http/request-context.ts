import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes, randomUUID } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';

/** What belongs to one request and is needed far from it: in log lines, audit events and outbound calls. */
export interface RequestContext {
  /** Id to quote; also in the X-Request-Id response header. */
  readonly requestId: string;
  /** W3C Trace Context of our part of the trace: `00-<trace id>-<our span id>-<flags>`. */
  readonly traceparent: string;
}

const REQUEST_ID = /^[\w-]{8,64}$/;
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})$/;
const SPAN_ID_BYTES = 8;
const TRACE_ID_BYTES = 16;

const storage = new AsyncLocalStorage<RequestContext>();

/** The context of the request being served; undefined in background work. */
export function requestContext(): RequestContext | undefined {
  return storage.getStore();
}

/**
 * Express middleware, the first of all: takes over a well-formed X-Request-Id and traceparent (W3C Trace Context,
 * section 3.2) or makes new ones, and answers with the request id.
 */
export function requestContextMiddleware(request: Request, response: Response, next: NextFunction): void {
  const given = request.get('x-request-id');
  const requestId = given !== undefined && REQUEST_ID.test(given) ? given : randomUUID();
  response.setHeader('X-Request-Id', requestId);
  storage.run({ requestId, traceparent: continueTrace(request.get('traceparent')) }, next);
}

function continueTrace(parent: string | undefined): string {
  const [, traceId, flags] = TRACEPARENT.exec(parent ?? '') ?? [];
  const spanId = randomBytes(SPAN_ID_BYTES).toString('hex');
  return `00-${traceId ?? randomBytes(TRACE_ID_BYTES).toString('hex')}-${spanId}-${flags ?? '00'}`;
}
