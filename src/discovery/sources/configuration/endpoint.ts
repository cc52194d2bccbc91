import type { ComponentCredentials, ComponentKind } from '../../model/component.types.js';

/** URL schemes of each kind. The first one is used if a source knows only host and port. */
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

/** Kinds whose endpoints may have several addresses: `kafka://one:9092,two:9092`. */
const CLUSTERS: readonly ComponentKind[] = ['kafka', 'mongodb'];

/** Kinds whose addresses are compared exactly, such as an issuer with the one in its document. */
const EXACT: readonly ComponentKind[] = ['oidc', 'token-endpoint', 'mcp'];

const MAX_LENGTH = 2_048;
/** Scheme, user information, addresses, path, query. An @ after them would be the end of a password. */
const ADDRESS = /^([a-z][a-z0-9+.-]*):\/\/(?:([^/?#]*)@)?([^/?#@]+)(\/[^?#@]*)?(?:\?([^#@]*))?$/i;
const HOST = /^(?:\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?)(?::(\d{1,5}))?$/i;
const PATH = /^[A-Za-z0-9._~!$&'()*+,;=:%/-]*$/;
const MAX_PORT = 65_535;
const MALFORMED = 'must be a URL; percent-encode special characters in name and password';

/**
 * Returns the address for a host and a port from a directory.
 * @param scheme default: the first one of the kind; an unsupported one leads to an address that is rejected
 */
export function endpointOf(kind: string, scheme: string | undefined, host: string, port: number): string {
  const schemes: readonly string[] = Object.hasOwn(KIND_SCHEMES, kind)
    ? KIND_SCHEMES[kind as ComponentKind]
    : KIND_SCHEMES.http;
  const [first = ''] = scheme === undefined ? schemes : schemes.filter((known) => known === scheme);
  return `${first}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Parts of an address, without secrets in `endpoint`. */
export interface ParsedEndpoint {
  /** Scheme, hosts, ports and path. */
  endpoint: string;
  /** User information of the address, decoded; null when it has none. */
  credentials: Pick<ComponentCredentials, 'username' | 'password'> | null;
  query: Readonly<Record<string, string>>;
}

/** An invalid address. The message is the broken rule and quotes nothing of the address. */
export class EndpointError extends Error {}

/** Parses an address or a list of hosts without quoting it in errors. @throws EndpointError */
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

/** Returns the rule of its kind that an address breaks. */
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
