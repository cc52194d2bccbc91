import type { Request } from 'express';

/** Route of a request that met none. */
export const UNMATCHED = 'unmatched';
const PROBES: ReadonlySet<string> = new Set(['/livez', '/readyz', '/metrics']);

/** Whether a path, or a route, is one of those that are asked all the time. */
export function isProbe(path: string): boolean {
  return PROBES.has(path);
}

/** The path template: paths themselves are of callers' making and without number. */
export function routeOf(request: Request): string {
  return (request.route as { path?: string } | undefined)?.path ?? UNMATCHED;
}

/** The method, or `other`. */
export function methodLabel(method: string): string {
  return ['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS', 'HEAD'].includes(method) ? method : 'other';
}
