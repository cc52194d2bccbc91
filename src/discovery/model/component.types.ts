/** The three maps of the answer (docs/contract.md, section 3.1). */
export type ComponentMap = 'services' | 'infrastructure' | 'externalIntegrations';

/** The two values of a component's `status` (docs/contract.md, section 3.1). */
export type ComponentStatus = 'healthy' | 'unhealthy';

/** Every kind of component that can be probed, with the map of the answer it belongs to unless its source says otherwise. */
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

/** Where a component was heard of. The order is the order in which sources are merged: a later one wins on a key. */
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

/** How to authenticate at a component. Read by its probe only; never logged, stored, compared or shown. */
export interface ComponentCredentials {
  username?: string;
  password?: string;
  /** Bearer token, instead of name and password. */
  token?: string;
}

/** Other addresses and settings of the kinds, as the configuration schema describes and checks them (docs/discovery.md). */
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

/** Something to look at, as a source describes it. */
export interface Component {
  /** Unique in its map, stable from scan to scan: 1-64 of `[A-Za-z0-9_-]`. */
  key: string;
  map: ComponentMap;
  kind: ComponentKind;
  /** For people. What the component says of itself replaces it where `isNamed` is false. */
  name: string;
  /** Whether the source chose the name, so that the component's own name does not replace it. */
  isNamed: boolean;
  /** Scheme, host, port and path, nothing secret; addresses of a cluster separated by commas. */
  endpoint: string;
  options: Readonly<ComponentOptions>;
  credentials: ComponentCredentials | null;
  source: ComponentSourceName;
  tags: readonly string[];
  /** Declared by the source; what the component says of itself wins. */
  version: string | null;
  capabilities: readonly string[];
  /** Milliseconds the probe may take; `probeTimeoutMs` when null. */
  timeoutMs: number | null;
  /** Who named the address. One that callers of the API have registered is judged by the guarded client. */
  trust: 'operator' | 'registered';
  /** Applications whose systems name it; only of what callers have registered. */
  apps?: ReadonlySet<string>;
}

/** Where a component stands in the answer. */
export interface ComponentRef {
  map: ComponentMap;
  key: string;
}

/** A component of a source, with the usual values of what that does not say. */
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

/** Identifies a component: keys are unique in their map only. */
export function refId({ map, key }: ComponentRef): string {
  return `${map}.${key}`;
}

/** Sorts by map, then key, by code units: equal in every locale. */
export function byRef(one: ComponentRef, other: ComponentRef): number {
  return refId(one) < refId(other) ? -1 : 1;
}
