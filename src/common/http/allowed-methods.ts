import type { Application, Request } from 'express';

/** What is read of the layers of the router: those of routes know their methods. */
interface Layer {
  readonly route?: { readonly methods: Readonly<Record<string, boolean>> };
  match(path: string): boolean;
}

/**
 * The methods of the routes that have the path of a request (RFC 9110, section 10.2.1). Asked for requests that no route has taken only.
 * @returns as the Allow header has them; undefined where no route has the path
 */
export function allowedMethods({
  app,
  path,
}: Pick<Request, 'path'> & { app: Application }): string | undefined {
  const layers = (app.router as unknown as { stack: Layer[] }).stack;
  const methods = layers
    .filter((layer) => layer.route !== undefined && matches(layer, path))
    .flatMap(({ route }) => Object.keys(route?.methods ?? {}))
    .map((method) => method.toUpperCase());
  const all = new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])));
  return all.size === 0 ? undefined : [...all].toSorted().join(', ');
}

/** The router throws for a path that it cannot decode. */
function matches(layer: Layer, path: string): boolean {
  try {
    return layer.match(path);
  } catch {
    return false;
  }
}
