import type { Cluster, Redis, RedisOptions } from 'ioredis';
import { type Env, EnvError } from '../config/env.js';
import { redisTarget, type RedisTarget } from '../config/redis-url.js';
import type { Log } from '../observability/logging/log.js';
import { readAuthority } from '../tls/authority-file.js';
import { redisLimits } from './redis.limits.js';
import { codeOf } from '../config/start.error.js';

const RETRY_STEP_MS = 100;
const RETRY_MAX_MS = 2_000;
/** A server that says nothing for so long is gone; longer than workers of a queue wait for a job at a stretch. */
const SILENCE_MS = 20_000;

export type RedisClient = Redis | Cluster;

/** `commands` fail at once while Redis is away; `waiting` ones wait for as long as it takes. */
type RedisPurpose = 'commands' | 'waiting';

type Driver = Pick<typeof import('ioredis'), 'Redis' | 'Cluster'>;

/**
 * Connections to the Redis (or Valkey) that all replicas share. It may be away, empty or fail over at any
 * time. What the driver throws can hold commands with credentials, so only codes are logged.
 */
export class RedisConnections {
  private readonly clients = new Set<RedisClient>();
  /** Of the outage under way. */
  private readonly toldCodes = new Set<string>();

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

  /** Opens a connection, which goes on trying for as long as Redis is away. */
  open(purpose: RedisPurpose): RedisClient {
    const client = this.connect(purpose);
    client.on('error', (error: unknown) => this.failed(error));
    client.on('ready', () => this.isThere());
    this.clients.add(client);
    return client;
  }

  /** Ends every connection at once. */
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
        // Names in certificates are of hosts, which the addresses of nodes would hide.
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
      // A primary that became a replica answers READONLY: the address leads elsewhere by now.
      reconnectOnError: (error) => error.message.startsWith('READONLY'),
      socketTimeout: SILENCE_MS,
      // Nobody would hear that it is refused, which ends a process.
      autoResubscribe: false,
      ...(purpose === 'waiting'
        ? { maxRetriesPerRequest: null }
        : { maxRetriesPerRequest: 0, enableOfflineQueue: false }),
    };
  }

  private failed(error: unknown): void {
    const errorCode = redisErrorCode(error);
    if (!this.toldCodes.has(errorCode)) {
      this.toldCodes.add(errorCode);
      this.log?.warn('redis is away: this replica goes on without it', { errorCode });
    }
  }

  private isThere(): void {
    if (this.toldCodes.size > 0) {
      this.toldCodes.clear();
      this.log?.info('redis is there again');
    }
  }
}

function retryDelay(attempt: number): number {
  return Math.min(RETRY_MAX_MS, attempt * RETRY_STEP_MS);
}

/** First words of the errors with which Redis answers, as its documentation names them. */
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

/** What may be told of an error of Redis or its driver: the rest can hold commands with credentials. */
export function redisErrorCode(error: unknown): string {
  const words = error instanceof Error ? error.message.split(/\W+/) : [];
  return words.find((word) => REDIS_REPLY_CODES.includes(word)) ?? codeOf(error);
}
