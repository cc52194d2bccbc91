import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Env, type Limit } from '../../config/env.js';
import { Metrics } from '../metrics/metrics.js';
import { RedisService } from '../redis/redis.service.js';
import { RequestsUnderWay } from './requests-under-way.js';
import { RateLimiter } from './rate-limiter.js';
import { SharedCount } from './shared-count.js';

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

  private readonly refusalDelayMs: number;

  constructor(env: Env, { limits }: Metrics, { shared }: RedisService) {
    const limiter = (limit: Limit, policy: string): RateLimiter => {
      limits.show(limit);
      return new RateLimiter(limit, policy, shared && new SharedCount(shared, limit));
    };
    this.refusalDelayMs = env.get('HTTP_REFUSAL_DELAY_MS');
    this.address = limiter(env.limit('RATE_LIMIT_ADDRESS_PER_MINUTE'), 'address');
    this.principal = limiter(env.limit('RATE_LIMIT_PRINCIPAL_PER_MINUTE'), 'caller');
    this.operations = {
      'connection-test': limiter(env.limit('RATE_LIMIT_CONNECTION_TEST_PER_MINUTE'), 'connection-test'),
      discovery: limiter(env.limit('RATE_LIMIT_DISCOVERY_PER_MINUTE'), 'discovery'),
    };
    const underWay = env.limit('HTTP_CALLER_REQUESTS');
    const atWork = env.limit('HTTP_CALLER_AT_WORK');
    this.underWay = new RequestsUnderWay({ underWay, atWork: atWork.most });
    limits.show(underWay, () => this.underWay.use);
    limits.show(atWork, () => this.underWay.useAtWork);
  }

  /**
   * Asks limits, which may have the caller wait, and lets whoever is refused wait for its answer (HTTP_REFUSAL_DELAY_MS): a connection that asks again at once would
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
