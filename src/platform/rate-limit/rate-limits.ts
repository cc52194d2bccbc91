import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Env, type Limit } from '../config/env.js';
import { Metrics } from '../observability/metrics/metrics.js';
import { RedisService } from '../redis/redis.service.js';
import { httpLimits } from '../http/http.limits.js';
import { RequestsUnderWay } from './requests-under-way.js';
import { RateLimiter, SharedCount } from './rate-limiter.js';

/** Operations that have a limit of their own on top of the general one. */
export type LimitedOperation = 'connection-test' | 'discovery';

/** The rate limiters of the process, as the settings want them. */
@Injectable()
export class RateLimits {
  /** By client address, before authentication. */
  readonly address: RateLimiter;
  /** By caller, after authentication. */
  readonly principal: RateLimiter;
  /** Of each caller, those that are not answered yet. */
  readonly underWay: RequestsUnderWay;
  /** By caller, for costly operations. */
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
        { name: 'connection-tests-per-minute', most: httpLimits.connectionTestsPerMinute },
        'connection-test',
      ),
      discovery: limiter({ name: 'rescans-per-minute', most: httpLimits.rescansPerMinute }, 'discovery'),
    };
    const underWay = { name: 'caller-requests', most: httpLimits.callerRequests };
    const atWork = { name: 'caller-requests-at-work', most: httpLimits.callerAtWork };
    this.underWay = new RequestsUnderWay({ underWay, atWork: atWork.most });
    limits.show(underWay, () => this.underWay.all.use);
    limits.show(atWork, () => this.underWay.atWork.use);
  }

  /**
   * Asks limits, which may have the caller wait, and lets whoever is refused wait for its answer (`refusalDelayMs`): a connection that asks again at once would
   * fill the event loop with refusals.
   * @returns undefined where nothing is to be waited for; otherwise it is rejected with what the limits throw
   */
  ask(limits: () => Promise<void> | undefined): Promise<void> | undefined {
    try {
      return limits()?.catch((error: unknown) => this.refuse(error));
    } catch (error) {
      return this.refuse(error);
    }
  }

  private async refuse(error: unknown): Promise<never> {
    // Not all at once. Nobody has to wait for it when the process ends.
    await sleep(this.refusalDelayMs * (1 + Math.random()), undefined, { ref: false });
    throw error;
  }
}
