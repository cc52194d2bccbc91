import { COMPONENT_KINDS, type Component, type ComponentSourceName } from '../../model/component.types.js';
import { componentSchema, keyRule, type DeclaredComponent } from './component.schema.js';
import { EndpointError, parseEndpoint, type ParsedEndpoint } from './endpoint.js';
import { mistakesOf, pathText } from './mistakes.js';

/** A component, or the rules that its declaration breaks. `key` is safe to show in both cases. */
export type Declaration = { component: Component } | { key: string; mistakes: string[] };

/** Where a declaration stands. */
export interface DeclarationPlace {
  source: ComponentSourceName;
  /** Names the declaration in mistakes: `['platform', 'components', 2]`. */
  path: readonly PropertyKey[];
}

/**
 * Checks the declaration of a source and makes a component of it. Name and password are taken out of the address.
 * @param raw as componentSchema describes it, `${…}` already resolved
 */
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
    throw new EndpointError('must have no query; options.query has its place');
  }
  return address;
}

function toComponent(
  { key, kind, name, options, ...declared }: DeclaredComponent,
  source: ComponentSourceName,
  address: ParsedEndpoint,
): Component {
  const { username, password, token, version, capabilities, tags, timeoutMs } = declared;
  const credentials = {
    ...address.credentials,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(token === undefined ? {} : { token }),
  };
  return {
    key,
    map: declared.map ?? COMPONENT_KINDS[kind],
    kind,
    name: name ?? key,
    isNamed: name !== undefined,
    endpoint: address.endpoint,
    options,
    credentials: Object.keys(credentials).length === 0 ? null : credentials,
    source,
    tags,
    version: version ?? null,
    capabilities,
    timeoutMs: timeoutMs ?? null,
    trust: 'operator',
  };
}

function keyOf(raw: unknown): string | undefined {
  const key = typeof raw === 'object' && raw !== null ? (raw as { key?: unknown }).key : undefined;
  return keyRule.safeParse(key).data;
}
