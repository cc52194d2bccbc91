import { Module } from '@nestjs/common';
import { RedisModule } from '../redis/redis.module.js';
import { RateLimits } from './rate-limits.js';

/** The rate limiters. The middleware by address is mounted where the application is set up, the guard by AuthModule. */
@Module({ imports: [RedisModule], providers: [RateLimits], exports: [RateLimits] })
export class RateLimitModule {}
