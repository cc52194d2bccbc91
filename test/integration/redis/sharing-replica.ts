import { expect, vi } from 'vitest';
import { Log } from '../../../src/common/logging/log.js';
import { Metrics } from '../../../src/common/metrics/metrics.js';
import { RateLimiter } from '../../../src/common/rate-limit/rate-limiter.js';
import { SharedCounts } from '../../../src/common/rate-limit/shared-counts.js';
import { RedisConnections } from '../../../src/common/redis/redis-connections.js';
import { RedisService, type Shared } from '../../../src/common/redis/redis.service.js';
import { SecretCipher } from '../../../src/common/secrets/secret-cipher.js';
import { Env } from '../../../src/config/env.js';
import { SharedTokens } from '../../../src/modules/mcp-connection/tokens/shared-tokens.js';

/** Requests a minute that a caller may send. */
export const LIMIT = 10;
/** A failover takes seconds, on a busy machine many. */
export const LATE = { timeout: 60_000, interval: 100 };

/** What a replica has of Redis, without the rest of the service. */
export class SharingReplica {
  readonly tokens: SharedTokens;
  private readonly limiter: RateLimiter;

  private constructor(
    readonly shared: Shared,
    readonly metrics: Metrics,
    private readonly service: RedisService,
    cipher: SecretCipher,
  ) {
    this.tokens = new SharedTokens(shared, cipher);
    this.limiter = new RateLimiter({ setting: 'LIMIT', most: LIMIT }, undefined, new SharedCounts(shared));
  }

  static async start(REDIS_URL: string, settings: Record<string, string> = {}): Promise<SharingReplica> {
    const env = Env.parse('evaluation', {
      REDIS_URL,
      REDIS_LEASE_MS: '3000',
      SECRETS_KEYS: `k:${Buffer.alloc(32, 1).toString('base64')}`,
      LOG_LEVEL: 'silent',
      ...settings,
    });
    const [log, metrics] = [new Log(env), new Metrics()];
    const service = new RedisService(env, await RedisConnections.load(env, log), log, metrics);
    const { shared } = service;
    if (shared === undefined) {
      throw new Error('REDIS_URL names no Redis');
    }
    const replica = new SharingReplica(shared, metrics, service, new SecretCipher(env.get('SECRETS_KEYS')));
    await replica.sharing();
    return replica;
  }

  /** Waits until it counts on Redis, or no longer does. */
  async sharing(isSharing = true): Promise<void> {
    await vi.waitFor(() => expect(this.shared.redis.isReady).toBe(isSharing), LATE);
  }

  /** Sends a request of a caller. @returns whether it was let through */
  isLetThrough(caller: string): boolean {
    try {
      this.limiter.consume(caller);
      return true;
    } catch {
      return false;
    }
  }

  stop(): void {
    this.service.onApplicationShutdown();
  }
}
