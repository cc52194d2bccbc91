import type { Request, Application } from 'express';

/** Route label of requests that match no route. */
export const UNMATCHED = 'unmatched';
const PROBES: ReadonlySet<string> = new Set(['/livez', '/readyz', '/metrics']);

/** Returns whether a path or route is a probe, which is called all the time. */
export function isProbe(path: string): boolean {
  return PROBES.has(path);
}

/** Returns the path template, since callers can send any number of different paths. */
export function routeOf(request: Request, none = UNMATCHED): string {
  return (request.route as { path?: string } | undefined)?.path ?? none;
}

export function methodLabel(method: string): string {
  return ['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS', 'HEAD'].includes(method) ? method : 'other';
}

interface Match {
  readonly params: Readonly<Record<string, unknown>>;
}

interface Layer {
  readonly route?: { readonly path: unknown; readonly methods: Readonly<Record<string, boolean>> };
  match(path: string): Match | false;
}

type PathRequest = Pick<Request, 'path'> & { app: Application };

/**
 * Returns the route that a request names, even if the request was rejected before it reached the router; undefined if
 * there is none.
 */
export function routeFor({
  app,
  path,
  method,
}: PathRequest & { method: string }): (Match & { template: string }) | undefined {
  const name = method === 'HEAD' ? 'get' : method.toLowerCase();
  for (const layer of layersOf(app)) {
    const match = layer.route?.methods[name] === true && matchOf(layer, path);
    if (match !== false && typeof layer.route?.path === 'string') {
      return { template: layer.route.path, params: match.params };
    }
  }
  return undefined;
}

/**
 * Returns the methods of the routes that have the path of a request (RFC 9110, section 10.2.1). Called only for
 * requests that match no route.
 * @returns value of the Allow header; undefined if no route has the path
 */
export function allowedMethods({ app, path }: PathRequest): string | undefined {
  const methods = layersOf(app)
    .filter((layer) => layer.route !== undefined && matchOf(layer, path) !== false)
    .flatMap(({ route }) => Object.keys(route?.methods ?? {}))
    .map((method) => method.toUpperCase());
  const all = new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])));
  return all.size === 0 ? undefined : [...all].toSorted().join(', ');
}

function layersOf(app: Application): readonly Layer[] {
  return (app.router as unknown as { stack: Layer[] }).stack;
}

/** Matches a path. The router throws for paths that it cannot decode. */
function matchOf(layer: Layer, path: string): Match | false {
  try {
    return layer.match(path);
  } catch {
    return false;
  }
}
