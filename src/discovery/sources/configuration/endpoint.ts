import type { ComponentCredentials, ComponentKind } from '../../model/component.types.js';

/** Schemes of the addresses of a kind. The first one is taken where a source knows a host and a port only. */
export const KIND_SCHEMES = {
  self: ['http', 'https'],
  http: ['http', 'https'],
  mysql: ['mysql', 'mariadb'],
  postgresql: ['postgresql', 'postgres'],
  mongodb: ['mongodb', 'mongodb+srv'],
  redis: ['redis', 'rediss', 'valkey', 'valkeys'],
  kafka: ['kafka'],
  rabbitmq: ['http', 'https', 'amqp', 'amqps'],
  nats: ['http', 'https', 'nats'],
  elasticsearch: ['http', 'https'],
  s3: ['http', 'https'],
  oidc: ['http', 'https'],
  'token-endpoint': ['http', 'https'],
  smtp: ['smtp', 'smtps'],
  mcp: ['http', 'https'],
} as const satisfies Record<ComponentKind, readonly string[]>;

/** Kinds whose clusters are named by several addresses: `kafka://one:9092,two:9092`. */
const CLUSTERS: readonly ComponentKind[] = ['kafka', 'mongodb'];

/** Kinds whose addresses are compared to the letter, such as an issuer with the one that its document names. */
const EXACT: readonly ComponentKind[] = ['oidc', 'token-endpoint', 'mcp'];

const MAX_LENGTH = 2_048;
/** Scheme, user information, addresses, path, query. An @ behind them would end a password. */
const ADDRESS = /^([a-z][a-z0-9+.-]*):\/\/(?:([^/?#]*)@)?([^/?#@]+)(\/[^?#@]*)?(?:\?([^#@]*))?$/i;
const HOST = /^(?:\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?)(?::(\d{1,5}))?$/i;
const PATH = /^[A-Za-z0-9._~!$&'()*+,;=:%/-]*$/;
const MAX_PORT = 65_535;
const MALFORMED = 'must be an address, special characters of name and password percent-encoded';

/**
 * The address of a host and a port that a directory knows.
 * @param scheme the first one of the kind when undefined; one that is none of the kind makes an address that is refused
 */
export function endpointOf(kind: string, scheme: string | undefined, host: string, port: number): string {
  const schemes: readonly string[] = Object.hasOwn(KIND_SCHEMES, kind)
    ? KIND_SCHEMES[kind as ComponentKind]
    : KIND_SCHEMES.http;
  const [first = ''] = scheme === undefined ? schemes : schemes.filter((known) => known === scheme);
  return `${first}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** An address, taken apart so that nothing secret is left in `endpoint`. */
export interface ParsedEndpoint {
  /** Scheme, hosts, ports and path. */
  endpoint: string;
  /** User information of the address, decoded; null when it has none. */
  credentials: Pick<ComponentCredentials, 'username' | 'password'> | null;
  query: Readonly<Record<string, string>>;
}

/** An address that cannot be taken. The message is a rule that it breaks and quotes nothing of it. */
export class EndpointError extends Error {}

/** Takes an address apart, also a list of hosts, without quoting it. @throws EndpointError */
export function parseEndpoint(kind: ComponentKind, text: string): ParsedEndpoint {
  const match = text.length > MAX_LENGTH ? null : ADDRESS.exec(text);
  if (match === null) {
    throw new EndpointError(MALFORMED);
  }
  const [, scheme = '', userInfo, hosts = '', path = '', query = ''] = match;
  const broken = brokenRule(kind, scheme.toLowerCase(), hosts.split(','), path);
  if (broken !== undefined) {
    throw new EndpointError(broken);
  }
  return {
    endpoint: shown(kind, `${scheme}://${hosts}`, path),
    credentials: userInfo === undefined ? null : credentialsOf(userInfo),
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

function shown(kind: ComponentKind, place: string, path: string): string {
  return EXACT.includes(kind) ? `${place}${path}` : `${place.toLowerCase()}${path.replace(/\/+$/, '')}`;
}

/** The rule of its kind that an address breaks. */
function brokenRule(kind: ComponentKind, scheme: string, hosts: string[], path: string): string | undefined {
  const schemes: readonly string[] = KIND_SCHEMES[kind];
  if (!PATH.test(path)) {
    return MALFORMED;
  }
  if (!schemes.includes(scheme)) {
    return `must start with ${schemes.map((name) => `${name}://`).join(' or ')}`;
  }
  if (hosts.length > 1 && !CLUSTERS.includes(kind)) {
    return 'must name one host';
  }
  return hosts.every(isHost) ? undefined : 'must name a host, and a port from 1 to 65535 if any';
}

function isHost(text: string): boolean {
  const match = HOST.exec(text);
  const port = Number(match?.[1] ?? 1);
  return match !== null && port >= 1 && port <= MAX_PORT;
}

function credentialsOf(userInfo: string): ParsedEndpoint['credentials'] {
  const [name = '', ...rest] = userInfo.split(':');
  const username = decoded(name);
  const password = decoded(rest.join(':'));
  return {
    ...(username === '' ? {} : { username }),
    ...(password === '' ? {} : { password }),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new EndpointError(MALFORMED);
  }
}
