import { Module } from '@nestjs/common';
import { Env } from '../../config/env.js';
import { Log } from '../logging/log.js';
import { Metrics } from '../metrics/metrics.js';
import { RedisConnections } from './redis-connections.js';
import { RedisService } from './redis.service.js';

/** The Redis that replicas share; optional. */
@Module({
  providers: [
    {
      provide: RedisService,
      // Small applications have no log and no metrics.
      inject: [Env, { token: Log, optional: true }, { token: Metrics, optional: true }],
      useFactory: async (env: Env, log?: Log, metrics?: Metrics) =>
        new RedisService(env, await RedisConnections.load(env, log), log, metrics),
    },
  ],
  exports: [RedisService],
})
export class RedisModule {}
