import type { RequestHandler } from 'express';
import { callerFingerprint, principalOf } from '../user/principal.js';
import { spanFields, type Log } from '../logging/log.js';
import type { Metrics } from '../metrics/metrics.js';
import { requestContext } from '../logging/request-context.js';
import { currentSpan } from '../tracing/active-span.js';
import { isProbe, methodLabel, routeOf } from './request-labels.js';

/** Express middleware: measures every request and logs one line for each that is not a probe. */
export function requestLog(log: Log, metrics: Metrics): RequestHandler {
  return (request, response, next) => {
    const start = performance.now();
    // The event below comes from the socket, outside the context of the request.
    const context = requestContext();
    const span = currentSpan();
    response.once('close', () => {
      const seconds = (performance.now() - start) / 1_000;
      const route = routeOf(request);
      const principal = principalOf(request);
      const status = response.writableFinished ? response.statusCode : 499;
      metrics.httpDuration.observe(
        { method: methodLabel(request.method), route, status: String(status) },
        seconds,
      );
      if (!isProbe(route)) {
        log.info('request', {
          requestId: context?.requestId,
          traceId: context?.traceId,
          ...spanFields(span),
          method: request.method,
          route,
          status,
          ...(principal === undefined ? {} : { caller: callerFingerprint(principal) }),
          durationMs: Math.round(seconds * 1e5) / 100,
        });
      }
    });
    next();
  };
}
