/** The three maps of the response (docs/contract.md, section 3.1). */
export type ComponentMap = 'services' | 'infrastructure' | 'externalIntegrations';

/** The two values of a component's `status` (docs/contract.md, section 3.1). */
export type ComponentStatus = 'healthy' | 'unhealthy';

/** Kinds of components that can be probed, with their default map in the response. */
export const COMPONENT_KINDS = {
  self: 'services',
  http: 'services',
  mysql: 'infrastructure',
  postgresql: 'infrastructure',
  mongodb: 'infrastructure',
  redis: 'infrastructure',
  kafka: 'infrastructure',
  rabbitmq: 'infrastructure',
  nats: 'infrastructure',
  elasticsearch: 'infrastructure',
  s3: 'externalIntegrations',
  oidc: 'externalIntegrations',
  'token-endpoint': 'externalIntegrations',
  smtp: 'externalIntegrations',
  mcp: 'externalIntegrations',
} as const satisfies Record<string, ComponentMap>;

/** One kind of {@link COMPONENT_KINDS}. MariaDB is `mysql`, Valkey is `redis`, OpenSearch is `elasticsearch`: one protocol, one kind. */
export type ComponentKind = keyof typeof COMPONENT_KINDS;

/** Sources of components, in the order in which they are merged: a later one wins on a key. */
export const COMPONENT_SOURCES = [
  'self',
  'configuration',
  'environment',
  'kubernetes',
  'dns',
  'consul',
  'registered',
] as const;

/** One source of {@link COMPONENT_SOURCES}. */
export type ComponentSourceName = (typeof COMPONENT_SOURCES)[number];

/** Credentials for a component. Used only by its probe; never logged, stored, compared or shown. */
export interface ComponentCredentials {
  username?: string;
  password?: string;
  /** Bearer token, instead of name and password. */
  token?: string;
}

/** Further addresses and settings, as described and checked by the configuration schema (docs/discovery.md). */
export interface ComponentOptions {
  healthPath?: string | undefined;
  infoPath?: string | undefined;
  headers?: Record<string, string> | undefined;
  query?: Record<string, string> | undefined;
  tls?: boolean | undefined;
  ca?: string | undefined;
  authSource?: string | undefined;
  mechanism?: 'plain' | 'scram-sha-256' | 'scram-sha-512' | undefined;
  expectedBrokers?: number | undefined;
  region?: string | undefined;
  authorizationRequired?: boolean | undefined;
}

/** A component to check, as described by a source. */
export interface Component {
  /** Unique in its map, stable from scan to scan: 1-64 of `[A-Za-z0-9_-]`. */
  key: string;
  map: ComponentMap;
  kind: ComponentKind;
  /** Display name. The component's own name replaces it if `isNamed` is false. */
  name: string;
  /** Whether the source chose the name, so that the component's own name does not replace it. */
  isNamed: boolean;
  /** Scheme, host, port and path, without secrets; addresses of a cluster are separated by commas. */
  endpoint: string;
  options: Readonly<ComponentOptions>;
  credentials: ComponentCredentials | null;
  source: ComponentSourceName;
  tags: readonly string[];
  /** Version declared by the source; one reported by the component takes precedence. */
  version: string | null;
  capabilities: readonly string[];
  /** Timeout of the probe in milliseconds; `probeTimeoutMs` when null. */
  timeoutMs: number | null;
  /** Who provided the address. The guarded client checks addresses that callers of the API have registered. */
  trust: 'operator' | 'registered';
  /** Applications whose systems refer to it; only for components that callers have registered. */
  apps?: ReadonlySet<string>;
}

/** Reference to a component in the response. */
export interface ComponentRef {
  map: ComponentMap;
  key: string;
}

/** Creates a component with defaults for everything that its source does not specify. */
export function componentOf(
  kind: ComponentKind,
  named: Pick<Component, 'key' | 'name' | 'endpoint' | 'source' | 'trust'> & Partial<Component>,
): Component {
  return {
    kind,
    map: COMPONENT_KINDS[kind],
    isNamed: true,
    options: {},
    credentials: null,
    tags: [],
    version: null,
    capabilities: [],
    timeoutMs: null,
    ...named,
  };
}

/** Returns the id of a component. Keys are unique only within their map. */
export function refId({ map, key }: ComponentRef): string {
  return `${map}.${key}`;
}

/** Compares by map, then key, by code units, which is the same in every locale. */
export function byRef(one: ComponentRef, other: ComponentRef): number {
  return refId(one) < refId(other) ? -1 : 1;
}
