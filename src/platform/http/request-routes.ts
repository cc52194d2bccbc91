import type { Request, Application } from 'express';

/** Route of a request that met none. */
export const UNMATCHED = 'unmatched';
const PROBES: ReadonlySet<string> = new Set(['/livez', '/readyz', '/metrics']);

/** Whether a path, or a route, is one of those that are asked all the time. */
export function isProbe(path: string): boolean {
  return PROBES.has(path);
}

/** The path template: paths themselves are of callers' making and without number. */
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

type Asked = Pick<Request, 'path'> & { app: Application };

/** The route that a request names, also where it was refused before the router saw it; undefined when there is none. */
export function routeFor({
  app,
  path,
  method,
}: Asked & { method: string }): (Match & { template: string }) | undefined {
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
 * The methods of the routes that have the path of a request (RFC 9110, section 10.2.1). Asked for requests that no route has taken only.
 * @returns as the Allow header has them; undefined where no route has the path
 */
export function allowedMethods({ app, path }: Asked): string | undefined {
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

/** The router throws for a path that it cannot decode. */
function matchOf(layer: Layer, path: string): Match | false {
  try {
    return layer.match(path);
  } catch {
    return false;
  }
}
