import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { RedisClient, RedisConnections, RedisPurpose } from './redis-connections.js';

/** The Redis that replicas share, where REDIS_URL names one. */
@Injectable()
export class RedisService implements OnApplicationShutdown {
  constructor(private readonly connections: RedisConnections | undefined) {}

  /** Opens a connection; undefined without REDIS_URL. */
  open(purpose: RedisPurpose): RedisClient | undefined {
    return this.connections?.open(purpose);
  }

  /** Whether a connection can be used now. */
  static isReady(client: RedisClient | undefined): client is RedisClient {
    return client?.status === 'ready';
  }

  onApplicationShutdown(): void {
    this.connections?.close();
  }
}
