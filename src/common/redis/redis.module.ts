import { Module } from '@nestjs/common';
import { Env } from '../../config/env.js';
import { Log } from '../logging/log.js';
import { RedisConnections } from './redis-connections.js';
import { RedisService } from './redis.service.js';

/** The Redis that replicas share; optional. */
@Module({
  providers: [
    {
      provide: RedisService,
      // Small applications have no log.
      inject: [Env, { token: Log, optional: true }],
      useFactory: async (env: Env, log?: Log) =>
        new RedisService(env, await RedisConnections.load(env, log), log),
    },
  ],
  exports: [RedisService],
})
export class RedisModule {}
