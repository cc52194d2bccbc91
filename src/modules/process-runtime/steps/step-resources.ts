import { Injectable } from '@nestjs/common';
import { v7 as uuid } from 'uuid';
import { Clock } from '../../../common/clock.js';
import { Env } from '../../../config/env.js';
import { IdBlocks } from '../../../database/id-blocks.js';
import { IdRangeExhaustedError } from '../../../database/id-range.js';
import type { StepContext } from '../engine/state/engine.types.js';
import { ProcessQuotas } from './process-quotas.js';
import type { StepIds } from './step.types.js';

/** How many ids of a kind are reserved first; few steps need more, and then they are made again with more. */
const GUESSES = [16, 1_024, 65_536];

/** What steps need and the engine does not have: ids, reserved before their transactions, the time, limits and quotas. */
@Injectable()
export class StepResources {
  readonly limits: StepContext['limits'];
  /** Open incidents of one instance. */
  readonly maxIncidents: number;

  constructor(
    private readonly blocks: IdBlocks,
    private readonly clock: Clock,
    readonly quotas: ProcessQuotas,
    env: Env,
  ) {
    this.maxIncidents = env.get('PROCESS_MAX_INCIDENTS');
    this.limits = {
      nodesPerStep: env.get('PROCESS_MAX_NODES_PER_STEP'),
      continues: env.get('PROCESS_MAX_CONTINUES'),
      liveTokens: env.get('PROCESS_MAX_TOKENS'),
      items: env.get('PROCESS_MAX_ITEMS'),
      dataBytes: env.get('PROCESS_DATA_MAX_BYTES'),
      dataValues: env.get('PROCESS_DATA_MAX_VALUES'),
      expressionSteps: env.get('PROCESS_MAX_EXPRESSION_STEPS'),
      returnPoints: env.get('PROCESS_MAX_RETURN_POINTS'),
    };
  }

  now(): Date {
    return this.clock.now();
  }

  /** What the outside gives to one step. */
  engineContext(now: Date, { token }: StepIds): StepContext {
    return {
      now: now.getTime(),
      limits: this.limits,
      newToken: () => ({ id: token(), uuid: uuid({ msecs: now.getTime() }) }),
    };
  }

  /** One id, not inside of a transaction. */
  nextId(name: 'process-instance' | 'process-incident' | 'job'): Promise<number> {
    return this.blocks.next(name);
  }

  /**
   * Runs work that needs ids: whatever it was given is given again when its transaction is repeated.
   * @param work gets a function to be called at the beginning of each attempt
   */
  async withIds<T>(work: (begin: () => StepIds) => Promise<T>): Promise<T> {
    for (const [index, count] of GUESSES.entries()) {
      try {
        return await this.attempt(count, work);
      } catch (error) {
        if (!(error instanceof IdRangeExhaustedError) || index === GUESSES.length - 1) {
          throw error;
        }
      }
    }
    throw new IdRangeExhaustedError();
  }

  private async attempt<T>(count: number, work: (begin: () => StepIds) => Promise<T>): Promise<T> {
    const token = await this.blocks.reserve('process-token', count);
    const job = await this.blocks.reserve('job', count);
    const wait = await this.blocks.reserve('process-wait', count);
    const incident = await this.blocks.reserve('process-incident', count);
    try {
      return await work(() => ({
        token: token.sequence(),
        job: job.sequence(),
        wait: wait.sequence(),
        incident: incident.sequence(),
      }));
    } finally {
      [token, job, wait, incident].forEach((range) => range.giveBack());
    }
  }
}
