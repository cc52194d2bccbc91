import type { Request, RequestHandler } from 'express';
import { callerFingerprint, principalOf } from '../user/principal.js';
import type { Log } from '../logging/log.js';
import type { Metrics } from '../metrics/metrics.js';
import { requestContext } from '../logging/request-context.js';

const UNMATCHED = 'unmatched';
const PROBES: ReadonlySet<string> = new Set(['/livez', '/readyz', '/metrics']);

/** Express middleware: measures every request and logs one line for each that is not a probe. */
export function requestLog(log: Log, metrics: Metrics): RequestHandler {
  return (request, response, next) => {
    const start = performance.now();
    // The event below comes from the socket, outside the context of the request.
    const context = requestContext();
    response.once('close', () => {
      const seconds = (performance.now() - start) / 1_000;
      const route = routeOf(request);
      const principal = principalOf(request);
      const status = response.writableFinished ? response.statusCode : 499;
      metrics.httpDuration.observe(
        { method: methodLabel(request.method), route, status: String(status) },
        seconds,
      );
      if (!PROBES.has(route)) {
        log.info('request', {
          requestId: context?.requestId,
          traceId: context?.traceId,
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

/** The path template: paths themselves are of callers' making and without number. */
function routeOf(request: Request): string {
  return (request.route as { path?: string } | undefined)?.path ?? UNMATCHED;
}

function methodLabel(method: string): string {
  return ['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS', 'HEAD'].includes(method) ? method : 'other';
}
