import { type Component, componentOf, type ComponentSourceName } from '../../model/component.types.js';
import { componentSchema, type DeclaredComponent, keyRule } from './component.schema.js';
import { EndpointError, endpointOf, type ParsedEndpoint, parseEndpoint } from './endpoint.js';
import { mistakesOf, pathText } from './references.js';

/** A component, or the rules that its declaration breaks. `key` is safe to show in both cases. */
export type Declaration = { component: Component } | { key: string; mistakes: string[] };

/** Place of a declaration. */
interface DeclarationPlace {
  source: ComponentSourceName;
  /** Path of the declaration in messages: `['platform', 'components', 2]`. */
  path: readonly PropertyKey[];
}

/** Creates a component from a declaration with resolved references. Removes name and password from the address. */
export function declare(raw: unknown, { source, path }: DeclarationPlace): Declaration {
  const key = keyOf(raw) ?? pathText(path);
  const { data, error } = componentSchema.safeParse(raw);
  if (error !== undefined) {
    return { key, mistakes: mistakesOf(error, path) };
  }
  try {
    return { component: toComponent(data, source, addressOf(data)) };
  } catch (mistake) {
    if (mistake instanceof EndpointError) {
      return { key, mistakes: [`${pathText([...path, 'endpoint'])} ${mistake.message}`] };
    }
    throw mistake;
  }
}

function addressOf({ kind, endpoint }: DeclaredComponent): ParsedEndpoint {
  const address = parseEndpoint(kind, endpoint);
  if (Object.keys(address.query).length > 0) {
    throw new EndpointError('must have no query; use options.query');
  }
  return address;
}

function toComponent(
  { kind, name, map, username, password, token, version, timeoutMs, ...declared }: DeclaredComponent,
  source: ComponentSourceName,
  { endpoint, credentials }: ParsedEndpoint,
): Component {
  const given = Object.entries({ username, password, token }).filter(([, value]) => value !== undefined);
  const all = { ...credentials, ...Object.fromEntries(given) };
  return componentOf(kind, {
    ...declared,
    ...(map !== undefined && { map }),
    name: name ?? declared.key,
    isNamed: name !== undefined,
    endpoint,
    credentials: Object.keys(all).length === 0 ? null : all,
    source,
    version: version ?? null,
    timeoutMs: timeoutMs ?? null,
    trust: 'operator',
  });
}

function keyOf(raw: unknown): string | undefined {
  const key = typeof raw === 'object' && raw !== null ? (raw as { key?: unknown }).key : undefined;
  return keyRule.safeParse(key).data;
}

/** A service in a directory. */
interface Discovered {
  source: ComponentSourceName;
  /** Path of the service in messages. */
  path: readonly PropertyKey[];
  key: string;
  host: string;
  port: number;
  /** Whether its port uses HTTPS, as far as the directory knows. */
  isSecure?: boolean;
  version: string | undefined;
  /** Returns an annotation for this service in the directory: `key`, `kind`, `scheme`, `health-path`. */
  note: (name: string) => string | undefined;
}

/** Creates a component from a directory entry: an HTTP service, unless annotated with another kind. */
export function discovered({ source, path, note, ...known }: Discovered): Declaration {
  const { key, host, port, isSecure, version } = known;
  const kind = note('kind') ?? 'http';
  const healthPath = note('health-path');
  const scheme = note('scheme') ?? (kind === 'http' && isSecure ? 'https' : undefined);
  const raw = {
    key: note('key') ?? key,
    kind,
    endpoint: endpointOf(kind, scheme, host, port),
    options: healthPath === undefined ? {} : { healthPath },
    ...(version ? { version } : {}),
  };
  return declare(raw, { source, path });
}
