import { Injectable } from '@nestjs/common';
import { Clock } from '../../../common/clock.js';
import { uuidOf } from '../../../common/ordered-uuid.js';
import { IdBlocks, IdRangeExhaustedError } from '../../../database/id-blocks.js';
import type { StepContext } from '../engine/state/engine.types.js';
import { ProcessQuotas } from './process-quotas.js';
import type { StepIds } from './step.types.js';
import { processLimits } from '../process.limits.js';
import { dataLimits } from '../../../common/validation/data.limits.js';

/** How many ids of a kind must be in stock; few steps need more, and then they are made again with more. */
const GUESSES = [16, 1_024, 65_536];
const STEP_IDS = ['process-instance', 'process-token', 'job', 'process-wait', 'process-incident'] as const;

/** What steps need and the engine does not have: ids, in stock before their transactions begin, the time, limits and quotas. */
@Injectable()
export class StepResources {
  readonly limits: StepContext['limits'];
  /** For work that was given to `withIds`. */
  readonly ids: StepIds = {
    instance: () => this.blocks.take('process-instance'),
    token: () => this.blocks.take('process-token'),
    job: () => this.blocks.take('job'),
    wait: () => this.blocks.take('process-wait'),
    incident: () => this.blocks.take('process-incident'),
  };
  /** Open incidents of one instance. */
  readonly maxIncidents: number;

  constructor(
    private readonly blocks: IdBlocks,
    private readonly clock: Clock,
    readonly quotas: ProcessQuotas,
  ) {
    this.maxIncidents = processLimits.incidents;
    this.limits = {
      nodesPerStep: processLimits.nodesPerStep,
      continues: processLimits.continues,
      liveTokens: processLimits.liveTokens,
      items: processLimits.items,
      dataBytes: dataLimits.bytes,
      dataValues: dataLimits.values,
      expressionSteps: processLimits.expressionSteps,
      returnPoints: processLimits.returnPoints,
    };
  }

  now(): Date {
    return this.clock.now();
  }

  /** What the outside gives to one step. */
  engineContext(now: Date): StepContext {
    return {
      now: now.getTime(),
      limits: this.limits,
      newToken: () => ({ id: this.ids.token(), uuid: uuidOf(now) }),
    };
  }

  /** One id, not inside of a transaction. */
  nextId(name: 'process-incident' | 'job'): Promise<number> {
    return this.blocks.next(name);
  }

  /**
   * Runs work that takes `ids`, and runs it again where it took more than were in stock. It does not happen often.
   * @param work whose transaction is rolled back when ids run out
   */
  async withIds<T>(work: () => Promise<T>): Promise<T> {
    for (const count of GUESSES) {
      await this.blocks.provide(STEP_IDS, count);
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof IdRangeExhaustedError)) {
          throw error;
        }
      }
    }
    throw new IdRangeExhaustedError();
  }
}
