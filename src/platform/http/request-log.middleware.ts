import type { Request, RequestHandler } from 'express';
import { callerFingerprint, principalOf } from '../user/principal.js';
import { requestFields, spanFields, type Log, type LogFields } from '../observability/logging/log.js';
import type { Metrics } from '../observability/metrics/metrics.js';
import { requestContext } from '../observability/logging/request-context.js';
import { currentSpan } from '../observability/tracing/spans.js';
import { routeFor, isProbe, methodLabel, routeOf } from './request-routes.js';

/** Path parameters that are ids; names of processes and files are not logged. */
const ID_NAME = /(?:Id|Uuid|^uuid)$/;
/** Form of logged ids, since rejected requests may contain anything. */
const ID = /^[\w.-]{1,64}$/;

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
          ...requestFields(context),
          ...spanFields(span),
          method: request.method,
          ...placeOf(request),
          address: request.ip,
          status,
          reason: context?.refusal,
          ...(principal === undefined ? {} : { caller: callerFingerprint(principal) }),
          durationMs: Math.round(seconds * 1e5) / 100,
        });
      }
    });
    next();
  };
}

/** Returns the path template and its ids, also of a request that was rejected before it reached a route. */
function placeOf(request: Request): LogFields {
  const { template = routeOf(request), params = request.params } =
    request.route === undefined ? (routeFor(request) ?? {}) : {};
  const ids = Object.entries(params).flatMap(([name, value]) =>
    ID_NAME.test(name) && typeof value === 'string' ? [[name, ID.test(value) ? value : 'malformed']] : [],
  );
  return { route: template, ...(Object.fromEntries(ids) as LogFields) };
}
