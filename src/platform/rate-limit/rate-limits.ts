import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Env, type Limit } from '../config/env.js';
import { Metrics } from '../observability/metrics/metrics.js';
import { RedisService } from '../redis/redis.service.js';
import { httpLimits } from '../http.limits.js';
import { RequestsUnderWay } from './requests-under-way.js';
import { RateLimiter, SharedCount } from './rate-limiter.js';

/** Operations with their own limit in addition to the general one. */
export type LimitedOperation = 'connection-test' | 'discovery';

/** The configured rate limiters of this replica. */
@Injectable()
export class RateLimits {
  /** By client address, before authentication. */
  readonly address: RateLimiter;
  /** By caller, after authentication. */
  readonly principal: RateLimiter;
  /** Concurrent requests of each caller. */
  readonly underWay: RequestsUnderWay;
  /** By caller, for expensive operations. */
  readonly operations: Readonly<Record<LimitedOperation, RateLimiter>>;

  private readonly refusalDelayMs = httpLimits.refusalDelayMs;

  constructor(env: Env, { limits }: Metrics, { shared }: RedisService) {
    const limiter = (limit: Limit, policy: string): RateLimiter => {
      limits.show(limit);
      return new RateLimiter(limit, policy, shared && new SharedCount(shared, limit));
    };
    this.address = limiter(env.limit('RATE_LIMIT_ADDRESS_PER_MINUTE'), 'address');
    this.principal = limiter(env.limit('RATE_LIMIT_PRINCIPAL_PER_MINUTE'), 'caller');
    this.operations = {
      'connection-test': limiter(
        { name: 'connection-tests-per-minute', max: httpLimits.connectionTestsPerMinute },
        'connection-test',
      ),
      discovery: limiter({ name: 'rescans-per-minute', max: httpLimits.rescansPerMinute }, 'discovery'),
    };
    const underWay = { name: 'caller-requests', max: httpLimits.callerRequests };
    const atWork = { name: 'caller-requests-at-work', max: httpLimits.callerAtWork };
    this.underWay = new RequestsUnderWay({ underWay, atWork: atWork.max });
    limits.show(underWay, () => this.underWay.all.use);
    limits.show(atWork, () => this.underWay.atWork.use);
  }

  /**
   * Applies limits, which may make the request wait. Delays rejections by `refusalDelayMs`, because clients that retry
   * immediately would keep the event loop busy.
   * @returns undefined when there is nothing to wait for; otherwise a promise that rejects with the error of a limit
   */
  apply(limits: () => Promise<void> | undefined): Promise<void> | undefined {
    try {
      return limits()?.catch((error: unknown) => this.refuse(error));
    } catch (error) {
      return this.refuse(error);
    }
  }

  private async refuse(error: unknown): Promise<never> {
    // Random, so that clients do not retry together. The timer does not keep the process alive.
    await sleep(this.refusalDelayMs * (1 + Math.random()), undefined, { ref: false });
    throw error;
  }
}
