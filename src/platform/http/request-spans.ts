import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { SpanKind } from '@opentelemetry/api';
import type { Request, RequestHandler, Response } from 'express';
import { finalize, tap, type Observable } from 'rxjs';
import { requestContext } from '../observability/logging/request-context.js';
import { withSpan, type ServiceSpan, recordedSpan } from '../observability/tracing/spans.js';
import { readTraceparent } from '../observability/tracing/trace-context.js';
import type { Tracer } from '../observability/tracing/tracer.js';
import { isProbe, methodLabel, routeOf, UNMATCHED } from './request-routes.js';

const FIRST_SERVER_ERROR = 500;

/**
 * Express middleware that records a span for every request except probes (OpenTelemetry Semantic Conventions, "HTTP
 * server"). The span has the path template, because paths and queries of callers may contain anything.
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
      recordResponse(span, request, response);
      span?.end();
    });
    withSpan(span, next);
  };
}

function recordResponse(span: ServiceSpan | undefined, request: Request, response: Response): void {
  const route = routeOf(request);
  if (route !== UNMATCHED) {
    span?.setAttributes({ 'http.route': route });
  }
  if (!response.writableFinished) {
    span?.fail('aborted');
    return;
  }
  span?.setAttributes({ 'http.response.status_code': response.statusCode });
  if (response.statusCode >= FIRST_SERVER_ERROR) {
    span?.fail(String(response.statusCode));
  }
}

/**
 * Records a span for the work of a controller, without what comes before (guards, body, validation) and after it
 * (response). Registered only if traces are exported, because an interceptor costs every request some time.
 */
@Injectable()
export class HandlerSpansInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const name = `${context.getClass().name}.${context.getHandler().name}`;
    const span = recordedSpan()?.child(name, { attributes: { 'code.function.name': name } });
    return span === undefined
      ? next.handle()
      : withSpan(span, () => next.handle()).pipe(
          tap({ error: (error: unknown) => span.recordException(error) }),
          finalize(() => span.end()),
        );
  }
}
