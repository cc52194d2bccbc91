import { Injectable } from '@nestjs/common';
import { type RetryPolicy, withRetries } from '../../platform/concurrency/retry.js';
import { Clock } from '../../platform/clock.js';
import { uuidOf } from '../../platform/ordered-uuid.js';
import { IdBlocks, IdRangeExhaustedError } from '../../store/ids/id-blocks.js';
import type { StepContext } from '#engine/tokens';
import { STEP_IDS, type TakeId } from './step.types.js';
import { processLimits } from '../process.limits.js';
import { dataLimits } from '../../platform/validation/data.limits.js';
import { jsonSize, type JsonObject } from '#engine/json';
import type { Payer } from '../quotas/model/quota.types.js';
import { QuotasService } from '../quotas/accounts/quotas.service.js';
import type { InstanceHead } from '../storage/process-instance.entity.js';

/** Ids of each kind that must be in stock. The few steps that take more are repeated with the next number. */
const GUESSES = [16, 1_024, 65_536];

type PayingInstance = Pick<InstanceHead, 'rootAppId' | 'starter'>;

/** Returns whose quotas an instance uses: those of the root application and of the caller that started it. */
export function payerOf({ rootAppId, starter }: PayingInstance): Payer {
  return { appId: rootAppId, caller: starter };
}

/** Provides what steps need from outside the engine: ids, reserved before the transaction, the time, limits and quotas. */
@Injectable()
export class StepResources {
  private readonly limits: StepContext['limits'] = {
    ...processLimits,
    dataBytes: dataLimits.bytes,
    dataValues: dataLimits.values,
  };
  /** Takes a unique id, in work of `withIds`. */
  readonly takeId: TakeId = (kind) => this.blocks.take(kind);

  constructor(
    private readonly blocks: IdBlocks,
    private readonly clock: Clock,
    private readonly quotas: QuotasService,
  ) {}

  now(): Date {
    return this.clock.now();
  }

  engineContext(now: Date): StepContext {
    return {
      now: now.getTime(),
      limits: this.limits,
      newToken: () => ({ id: this.takeId('process-token'), uuid: uuidOf(now) }),
    };
  }

  /** Returns one id. Not inside a transaction. */
  nextId(name: 'process-incident' | 'job'): Promise<number> {
    return this.blocks.next(name);
  }

  /**
   * Runs work that takes ids, and repeats it after its rollback when it took more than were in stock.
   * @param recoverOther removes any other cause of a failure; returns whether to retry
   */
  withIds<T>(work: () => Promise<T>, recoverOther: RetryPolicy['recover'] = () => false): Promise<T> {
    let guess = 0;
    const recover: RetryPolicy['recover'] = (error) => {
      guess += error instanceof IdRangeExhaustedError ? 1 : 0;
      return error instanceof IdRangeExhaustedError ? guess < GUESSES.length : recoverOther(error);
    };
    return withRetries({ retries: GUESSES.length, recover }, async () => {
      await this.blocks.provide(STEP_IDS, GUESSES[guess] ?? 0);
      return work();
    });
  }

  /**
   * Uses the quotas of a start.
   * @param isCall whether a background job starts the instance; that open job does not count
   * @returns function that gives everything back, for a start that stored no instance
   * @throws QuotaExceededError when the quotas do not allow a start with this data
   */
  async takeStartQuota(owner: PayingInstance, data: JsonObject, isCall: boolean): Promise<() => void> {
    const amounts = this.quotas.has('DATA_BYTES') ? { DATA_BYTES: jsonSize(data) } : {};
    return this.quotas.take(payerOf(owner), { STARTS: 1, ...amounts }, isCall ? 1 : 0);
  }

  /** Updates the counts of `requireWorkQuota`, before the transaction. */
  refreshQuotas(): Promise<void> {
    return this.quotas.refreshJobs();
  }

  /** @throws QuotaExceededError when the quotas allow no more work for an instance */
  requireWorkQuota(owner: PayingInstance): void {
    this.quotas.requireQuota(payerOf(owner), 'DATA_BYTES');
  }

  chargeGrowth(owner: PayingInstance, before: JsonObject, after: JsonObject): void {
    if (before !== after && this.quotas.has('DATA_BYTES')) {
      this.quotas.charge(payerOf(owner), 'DATA_BYTES', jsonSize(after) - jsonSize(before));
    }
  }
}
