import { Injectable } from '@nestjs/common';
import { Database } from '../../../database/database.js';
import { JobQueueService } from '../../jobs/queue/job-queue.service.js';
import { EngineRefusal } from '../engine/state/engine.errors.js';
import { InstanceStepsService } from '../steps/instance-steps.service.js';
import { encodeJob } from '../steps/runtime-job.js';
import { ProcessInstanceNotFoundError } from '../model/process-runtime.errors.js';
import { FailedStepError } from '../steps/failed-step.error.js';
import { StepResources } from '../steps/step-resources.js';
import { MessagesRepository, type MessageRow, type WaitRow } from '../storage/messages.repository.js';
import { MessageStarts } from './message-starts.js';

/** Somebody else took the message or used up the wait. */
class TakenError extends Error {
  override readonly name = 'TakenError';
}

/**
 * Gives messages to whoever waits for them: the oldest message to the token that has waited longest, else to a message start event
 * of the active build. Both who publishes and who begins to wait leave a job that comes here, so whichever comes second finds
 * the other. A message and a wait are removed in the transaction of the step that they lead to.
 */
@Injectable()
export class MessageMatcher {
  constructor(
    private readonly database: Database,
    private readonly messages: MessagesRepository,
    private readonly steps: InstanceStepsService,
    private readonly starts: MessageStarts,
    private readonly queue: JobQueueService,
    private readonly resources: StepResources,
  ) {}

  /** Goes on until there is no message or nobody to give it to. */
  async match(key: string): Promise<void> {
    for (;;) {
      const now = this.resources.now();
      const { message, wait } = await this.database.read(async (manager) => ({
        message: await this.messages.oldestMessage(manager, key, now),
        wait: await this.messages.oldestWait(manager, key),
      }));
      if (message === null) {
        return;
      }
      const isGiven = wait === null ? await this.starts.start(message) : await this.give(message, wait);
      if (!isGiven) {
        return;
      }
    }
  }

  /** @returns true: there may be more to do, whatever became of this */
  private async give(message: MessageRow, wait: WaitRow): Promise<true> {
    try {
      await this.deliver(message, wait);
    } catch (error) {
      if (error instanceof FailedStepError) {
        await this.takenOver(message, wait);
      } else if (error instanceof EngineRefusal || error instanceof ProcessInstanceNotFoundError) {
        await this.database.write((manager) => this.messages.removeWait(manager, wait.id));
      } else if (!(error instanceof TakenError)) {
        throw error;
      }
    }
    return true;
  }

  private async deliver({ id, payload }: MessageRow, wait: WaitRow): Promise<void> {
    const { tokenId, visit, node } = wait;
    await this.steps.run<void>(
      { id: wait.instanceId },
      {
        actor: null,
        decide: async ({ row }, manager) => {
          const isOurs =
            row.state === 'STARTED' &&
            (await this.messages.removeWait(manager, wait.id)) &&
            (await this.messages.removeMessage(manager, id));
          if (!isOurs) {
            throw new TakenError();
          }
          return { command: { kind: 'MESSAGE', tokenId, visit, node, payload }, after: () => undefined };
        },
      },
    );
  }

  /** Unless the token has gone on meanwhile, or somebody else has the message: then the other of the two stays where it is. */
  private async takenOver(message: MessageRow, wait: WaitRow): Promise<void> {
    try {
      await this.leaveToJob(message, wait);
    } catch (error) {
      if (!(error instanceof TakenError)) {
        throw error;
      }
    }
  }

  /**
   * The process stops behind the message: a job of the token takes it over, and ends in an incident that can be retried.
   * @throws TakenError
   */
  private async leaveToJob({ id, payload }: MessageRow, wait: WaitRow): Promise<void> {
    const { tokenId, visit, node, instanceId } = wait;
    const job = { kind: 'DELIVERY', tokenId, visit, node, payload } as const;
    const jobId = await this.resources.nextId('job');
    await this.database.write(async (manager) => {
      const isOurs =
        (await this.messages.removeWait(manager, wait.id)) &&
        (await this.messages.removeMessage(manager, id));
      if (!isOurs) {
        throw new TakenError();
      }
      const { kind } = job;
      const availableAt = this.resources.now();
      await this.queue.add(manager, [
        { id: jobId, kind, availableAt, payload: encodeJob(job), instanceId, tokenId },
      ]);
    });
    this.queue.wake();
  }
}
