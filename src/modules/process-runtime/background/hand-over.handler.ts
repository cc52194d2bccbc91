import { Injectable } from '@nestjs/common';
import { Database } from '../../../database/database.js';
import { shardOf } from '../../../database/shards.js';
import type { Job, JobHandler } from '../../jobs/model/job-queue.types.js';
import { EngineRefusal } from '../engine/state/engine.errors.js';
import { ProcessInstanceNotFoundError } from '../model/process-runtime.errors.js';
import { FailedStepError } from '../steps/failed-step.error.js';
import { decodeJob, type RuntimeJob } from '../steps/runtime-job.js';
import { StepResources } from '../steps/step-resources.js';
import type { MessageRow } from '../storage/messages.repository.js';
import { RepeatsService } from '../../repeats/repeats.service.js';
import { MessageDeliveries, MessageTakenError, type TakeMessage } from './message-deliveries.js';
import { MessageHandOvers } from './message-hand-overs.js';

type Work = Extract<RuntimeJob, { kind: 'HAND_OVER' }>;

/**
 * Gives a message to a token of another shard. The transaction of the token notes that it has the message, so that a job that runs again
 * changes nothing. Where the token has gone on, the message is put back. Never given up: the job is all that there is of the message.
 */
@Injectable()
export class HandOverHandler implements JobHandler {
  readonly kind = 'HAND_OVER';

  constructor(
    private readonly database: Database,
    private readonly repeats: RepeatsService,
    private readonly deliveries: MessageDeliveries,
    private readonly handOvers: MessageHandOvers,
    private readonly resources: StepResources,
  ) {}

  async run(job: Job): Promise<void> {
    const work = decodeJob<'HAND_OVER'>(job.payload);
    const message = messageOf(work);
    await this.give(message, work);
    if (await this.isGiven(work)) {
      await this.handOvers.complete(job, message);
    } else {
      await this.handOvers.putBack(job, message);
    }
  }

  private async give(message: MessageRow, { wait }: Work): Promise<void> {
    const take: TakeMessage = (manager) =>
      this.repeats.note(manager, noteOf(message), shardOf(wait.instanceId), this.resources.now());
    try {
      await this.deliveries.deliver(message, wait, take);
    } catch (error) {
      if (error instanceof FailedStepError) {
        await this.handOvers.leaveToJob(message, wait, take);
      } else if (error instanceof EngineRefusal || error instanceof ProcessInstanceNotFoundError) {
        await this.handOvers.withdraw(wait);
      } else if (!(error instanceof MessageTakenError)) {
        throw error;
      }
    }
  }

  private isGiven({ message, wait }: Work): Promise<boolean> {
    return this.database.read((manager) =>
      this.repeats.isNoted(manager, noteOf(message), shardOf(wait.instanceId)),
    );
  }
}

function noteOf({ id }: Pick<MessageRow, 'id'>): string {
  return `message:${id}`;
}

function messageOf({ message }: Work): MessageRow {
  return {
    ...message,
    publishedAt: new Date(message.publishedAt),
    expiresAt: new Date(message.expiresAt),
  };
}
