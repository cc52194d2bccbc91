/** The three maps of the answer (docs/contract.md, section 3.1). */
export type ComponentMap = 'services' | 'infrastructure' | 'externalIntegrations';

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
  /**
   * Where it is, safe to show and to store: scheme, host, port and path, never user information, query or fragment.
   * Several addresses of one cluster are separated by commas.
   */
  endpoint: string;
  /** Other addresses and settings of the kind, as the configuration schema describes them. */
  options: Readonly<Record<string, unknown>>;
  credentials: ComponentCredentials | null;
  source: ComponentSourceName;
  tags: readonly string[];
  /** Declared by the source; what the component says of itself wins. */
  version: string | null;
  capabilities: readonly string[];
  /** Milliseconds the probe may take; `probeTimeoutMs` when null. */
  timeoutMs: number | null;
  /**
   * Who named the address. `operator`: configuration of this deployment, may be anywhere. `registered`: callers of the
   * API, so it is reached through the guarded outbound client and its address policy only.
   */
  trust: 'operator' | 'registered';
  /** Applications whose systems name it; only of what callers have registered. */
  apps?: ReadonlySet<string>;
}
