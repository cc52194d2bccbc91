import { SpanKind } from '@opentelemetry/api';
import type { Request, RequestHandler, Response } from 'express';
import { requestContext } from '../logging/request-context.js';
import { withSpan } from '../tracing/active-span.js';
import type { ServiceSpan } from '../tracing/service-span.js';
import { readTraceparent } from '../tracing/trace-context.js';
import type { Tracer } from '../tracing/tracer.js';
import { isProbe, methodLabel, routeOf, UNMATCHED } from './request-labels.js';

const FIRST_SERVER_ERROR = 500;

/**
 * Express middleware: a span for every request that is not a probe (OpenTelemetry Semantic Conventions, "HTTP server"). Paths and queries
 * are of callers' making and may hold anything, so a span has the template of the path.
 * @param tracer one that is on
 */
export function requestSpans(tracer: Tracer): RequestHandler {
  return (request, response, next) => {
    const context = requestContext();
    const own = readTraceparent(context?.traceparent);
    if (own === undefined || isProbe(request.path)) {
      next();
      return;
    }
    const method = methodLabel(request.method);
    const span = tracer.request(own, readTraceparent(request.get('traceparent')), {
      kind: SpanKind.SERVER,
      attributes: {
        'http.request.method': method === 'other' ? '_OTHER' : method,
        'url.scheme': request.protocol,
        'svc.request.id': context?.requestId,
      },
    });
    response.once('close', () => {
      span?.updateName(`${method === 'other' ? 'HTTP' : method} ${routeOf(request)}`);
      tellAnswer(span, request, response);
      span?.end();
    });
    withSpan(span, next);
  };
}

function tellAnswer(span: ServiceSpan | undefined, request: Request, response: Response): void {
  const route = routeOf(request);
  if (route !== UNMATCHED) {
    span?.setAttribute('http.route', route);
  }
  if (!response.writableFinished) {
    span?.fail('aborted');
    return;
  }
  span?.setAttribute('http.response.status_code', response.statusCode);
  if (response.statusCode >= FIRST_SERVER_ERROR) {
    span?.fail(String(response.statusCode));
  }
}
