import { Module } from '@nestjs/common';
import { RateLimits } from './rate-limits.js';

/** The rate limiters. The middleware by address is mounted where the application is set up, the guard by AuthModule. */
@Module({ providers: [RateLimits], exports: [RateLimits] })
export class RateLimitModule {}
