import { decoded, urlCredentials, type UrlCredentials } from './url-credentials.js';

const MAX_PORT = 65_535;
const DEFAULT_PORT = 6_379;
const DEFAULT_SENTINEL_PORT = 26_379;
const MAX_DATABASE = 1_023;
/** Groups: TLS, kind, credentials, hosts, path, password of Sentinels. */
const SHAPE =
  /^(?:redis|valkey)(s?)(?:\+(cluster|sentinel))?:\/\/(?:([^/@]*)@)?([^/@?#]+)(?:\/([^?#]*))?(?:\?sentinelPassword=([^&#]+))?$/;
const PATHS = {
  server: /^(?<database>\d{1,4})?$/,
  cluster: /^0?$/,
  sentinel: /^(?<primary>[\w.-]{1,128})(?:\/(?<database>\d{1,4}))?$/,
} as const satisfies Record<RedisTarget['kind'], RegExp>;
const HOST = /^(\[[0-9a-fA-F:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/;

/** A Redis server, a node of a Redis cluster, or a Sentinel. */
export interface RedisHost {
  host: string;
  port: number;
}

export interface RedisTarget extends UrlCredentials {
  kind: 'server' | 'cluster' | 'sentinel';
  usesTls: boolean;
  /** One host for `server`; otherwise those that are contacted first. */
  hosts: RedisHost[];
  primary?: string;
  /** Password of the Sentinels; username and password belong to the servers. */
  sentinelPassword?: string;
  /** Number of the database; 0 in a cluster. */
  database: number;
}

/**
 * Parses REDIS_URL; returns null if it is invalid. It has three forms. `valkey` may replace `redis`, and an appended `s` means TLS:
 *
 *     redis://user:password@host:6379/0
 *     redis+cluster://user:password@host:6379,host:6379
 *     redis+sentinel://user:password@host:26379,host:26379/primary/0?sentinelPassword=password
 */
export function redisTarget(url: string): RedisTarget | null {
  const parts = SHAPE.exec(url);
  if (parts === null) {
    return null;
  }
  const [, tls, form = 'server', credentials = '', hostList = '', path = '', sentinels] = parts;
  const kind = form as RedisTarget['kind'];
  const hosts = hostsOf(hostList, kind);
  const place = placeOf(kind, path);
  const account = urlCredentials(credentials);
  const password = sentinelsOf(kind, sentinels);
  return hosts === null || place === null || account === null || password === null
    ? null
    : { kind, usesTls: tls === 's', hosts, ...account, ...place, ...password };
}

function sentinelsOf(kind: RedisTarget['kind'], text?: string): Pick<RedisTarget, 'sentinelPassword'> | null {
  const sentinelPassword = kind === 'sentinel' ? decoded(text ?? '') : null;
  return text === undefined ? {} : sentinelPassword === null ? null : { sentinelPassword };
}

function hostsOf(text: string, kind: RedisTarget['kind']): RedisHost[] | null {
  const fallback = kind === 'sentinel' ? DEFAULT_SENTINEL_PORT : DEFAULT_PORT;
  const found = text.split(',').map((one) => hostOf(one, fallback));
  const hosts = found.filter((host) => host !== null);
  return hosts.length === found.length && (kind !== 'server' || hosts.length === 1) ? hosts : null;
}

function hostOf(text: string, fallback: number): RedisHost | null {
  const [, host, port] = HOST.exec(text) ?? [];
  const number = port === undefined ? fallback : Number(port);
  return host === undefined || number < 1 || number > MAX_PORT
    ? null
    : { host: host.replace(/^\[|\]$/g, ''), port: number };
}

function placeOf(kind: RedisTarget['kind'], path: string): Pick<RedisTarget, 'primary' | 'database'> | null {
  const parts = PATHS[kind].exec(path);
  if (parts === null) {
    return null;
  }
  const { primary, database = '0' } = parts.groups ?? {};
  return Number(database) > MAX_DATABASE
    ? null
    : { database: Number(database), ...(primary === undefined ? {} : { primary }) };
}
