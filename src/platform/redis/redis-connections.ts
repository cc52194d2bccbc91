import type { Cluster, Redis, RedisOptions } from 'ioredis';
import { type Env, EnvError } from '../config/env.js';
import { redisTarget, type RedisTarget } from '../config/redis-url.js';
import type { Log } from '../observability/logging/log.js';
import { readAuthority } from '../tls/authority-file.js';
import { redisLimits } from './redis.limits.js';
import { codeOf } from '../config/start.error.js';

const RETRY_STEP_MS = 100;
const RETRY_MAX_MS = 2_000;
/** A silent server is considered lost after this time. */
const SILENCE_MS = 20_000;

export type RedisClient = Redis | Cluster;

/** While Redis is unavailable, commands on a `commands` connection fail immediately, and those on a `waiting` connection wait. */
type RedisPurpose = 'commands' | 'waiting';

type Driver = Pick<typeof import('ioredis'), 'Redis' | 'Cluster'>;

/**
 * Connections to the Redis (or Valkey) that all replicas share. It may be unavailable, empty or fail over at any time. Only
 * error codes are logged, because errors of the driver may contain commands with credentials.
 */
export class RedisConnections {
  private readonly clients = new Set<RedisClient>();
  /** Error codes that were logged during the current outage. */
  private readonly loggedCodes = new Set<string>();

  private constructor(
    private readonly log: Log | undefined,
    private readonly target: RedisTarget,
    private readonly driver: Driver,
    private readonly authority: { ca?: string },
  ) {}

  /**
   * @returns undefined without REDIS_URL
   * @throws EnvError when TLS_CA_FILE cannot be used, or the driver is not installed
   */
  static async load(env: Env, log?: Log): Promise<RedisConnections | undefined> {
    const target = redisTarget(env.get('REDIS_URL') ?? '');
    if (target === null) {
      return undefined;
    }
    const authority = readAuthority(env);
    const driver = await import('ioredis').catch(() => {
      throw new EnvError(['REDIS_URL needs the npm package ioredis, which is not installed']);
    });
    return new RedisConnections(log, target, driver, authority);
  }

  /** Opens a connection, which keeps trying to reconnect while Redis is unavailable. */
  open(purpose: RedisPurpose): RedisClient {
    const client = this.connect(purpose);
    client.on('error', (error: unknown) => this.failed(error));
    client.on('ready', () => this.recovered());
    this.clients.add(client);
    return client;
  }

  /** Closes all connections immediately. */
  close(): void {
    this.clients.forEach((client) => client.disconnect());
    this.clients.clear();
  }

  private connect(purpose: RedisPurpose): RedisClient {
    const { Redis, Cluster } = this.driver;
    const { kind, hosts, database, primary = '', sentinelPassword } = this.target;
    const options = this.options(purpose);
    if (kind === 'cluster') {
      return new Cluster(hosts, {
        enableOfflineQueue: purpose === 'waiting',
        clusterRetryStrategy: retryDelay,
        redisOptions: options,
        // Keeps host names, because certificates do not contain the addresses of nodes.
        dnsLookup: (address, callback) => callback(null, address),
      });
    }
    if (kind === 'sentinel') {
      return new Redis({
        ...options,
        db: database,
        sentinels: hosts,
        name: primary,
        sentinelRetryStrategy: retryDelay,
        sentinelMaxConnections: 1,
        ...(sentinelPassword === undefined ? {} : { sentinelPassword }),
        ...(options.tls === undefined ? {} : { enableTLSForSentinelMode: true, sentinelTLS: options.tls }),
      });
    }
    return new Redis({ ...options, ...hosts[0], db: database });
  }

  private options(purpose: RedisPurpose): RedisOptions {
    const { username, password, usesTls } = this.target;
    return {
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password }),
      ...(usesTls ? { tls: this.authority } : {}),
      connectTimeout: redisLimits.connectTimeoutMs,
      retryStrategy: retryDelay,
      // READONLY means that the primary became a replica. The address leads to the new primary by now.
      reconnectOnError: (error) => error.message.startsWith('READONLY'),
      socketTimeout: SILENCE_MS,
      // The rejection of an automatic resubscription would be unhandled and crash the process.
      autoResubscribe: false,
      ...(purpose === 'waiting'
        ? { maxRetriesPerRequest: null }
        : { maxRetriesPerRequest: 0, enableOfflineQueue: false }),
    };
  }

  private failed(error: unknown): void {
    const errorCode = redisErrorCode(error);
    if (!this.loggedCodes.has(errorCode)) {
      this.loggedCodes.add(errorCode);
      this.log?.warn('redis is unavailable; this replica continues without it', { errorCode });
    }
  }

  private recovered(): void {
    if (this.loggedCodes.size > 0) {
      this.loggedCodes.clear();
      this.log?.info('redis is available again');
    }
  }
}

function retryDelay(attempt: number): number {
  return Math.min(RETRY_MAX_MS, attempt * RETRY_STEP_MS);
}

/** First words of Redis error replies, as documented by Redis. */
export const REDIS_REPLY_CODES = [
  'WRONGPASS',
  'NOAUTH',
  'NOPERM',
  'OOM',
  'MISCONF',
  'NOREPLICAS',
  'READONLY',
  'CLUSTERDOWN',
  'MASTERDOWN',
  'LOADING',
  'BUSY',
];

/** Returns the code of an error of Redis or its driver. Nothing else may be logged, because messages may contain credentials. */
export function redisErrorCode(error: unknown): string {
  const words = error instanceof Error ? error.message.split(/\W+/) : [];
  return words.find((word) => REDIS_REPLY_CODES.includes(word)) ?? codeOf(error);
}
