import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Database } from '../../../database/database.js';
import { JobQueueService } from '../../jobs/queue/job-queue.service.js';
import { EngineRefusal } from '../engine/state/engine.errors.js';
import { ProcessInstanceNotFoundError } from '../model/process-runtime.errors.js';
import { InstanceStepsService } from '../steps/instance-steps.service.js';
import { encodeJob } from '../steps/runtime-job.js';
import { FailedStepError } from '../steps/step-failures.js';
import { StepResources } from '../steps/step-resources.js';
import { familyOf } from '../storage/families.repository.js';
import { Instances } from '../storage/instances.repository.js';
import { Messages, type MessageRow, type WaitRow, type Waiting } from '../storage/messages.repository.js';
import { Log } from '../../../common/logging/log.js';

/** Takes a message in the transaction that gives it to its receiver; false when somebody else has it. */
type TakeMessage = (manager: EntityManager) => Promise<boolean>;

/** Somebody else took the message or used up the wait. */
class MessageTakenError extends Error {
  override readonly name = 'MessageTakenError';
}

/** Gives messages to tokens that wait for them. */
@Injectable()
export class MessageDeliveries {
  constructor(
    private readonly database: Database,
    private readonly steps: InstanceStepsService,
    private readonly queue: JobQueueService,
    private readonly resources: StepResources,
    private readonly log: Log,
  ) {}

  /** Several instances wait with one correlation, of which the first gets the message: at most one of them is meant. */
  warnOfSeveral({ several }: Waiting): void {
    if (several !== null) {
      const { instances, ...message } = several;
      const [first, second] = instances;
      this.log.warn('several instances wait for one message', { ...message, first, second });
    }
  }

  /**
   * Removes a wait and takes the message in the transaction of the step that they lead to. Of a token that has gone on only the wait is
   * removed. A message whose receiver stops behind it becomes a job of the token, which ends in an incident that can be retried.
   */
  async give(message: MessageRow, wait: WaitRow, take: TakeMessage): Promise<void> {
    try {
      await this.deliver(message, wait, take).catch((error: unknown) => {
        if (error instanceof FailedStepError) {
          return this.leaveToJob(message, wait, take);
        }
        throw error;
      });
    } catch (error) {
      if (error instanceof EngineRefusal || error instanceof ProcessInstanceNotFoundError) {
        await this.database.write((manager) => Messages.removeWait(manager, wait));
      } else if (!(error instanceof MessageTakenError)) {
        throw error;
      }
    }
  }

  private async deliver({ payload }: MessageRow, wait: WaitRow, take: TakeMessage): Promise<void> {
    const { tokenId, visit, node } = wait;
    await this.steps.run<void>(
      { id: wait.instanceId },
      {
        actor: null,
        decide: async ({ row }, manager) => {
          if (row.state !== 'STARTED') {
            throw new MessageTakenError();
          }
          await this.takeBoth(manager, wait, take);
          return { command: { kind: 'MESSAGE', tokenId, visit, node, payload }, after: () => undefined };
        },
      },
    );
  }

  private async leaveToJob({ payload }: MessageRow, wait: WaitRow, take: TakeMessage): Promise<void> {
    const { tokenId, visit, node, instanceId } = wait;
    const job = { kind: 'DELIVERY', tokenId, visit, node, payload } as const;
    const { kind } = job;
    const id = await this.resources.nextId('job');
    await this.database.write(async (manager) => {
      await this.takeBoth(manager, wait, take);
      const head = await Instances.findHead(manager, { id: instanceId });
      if (head === null) {
        throw new MessageTakenError();
      }
      const place = { instanceId, tokenId, familyId: familyOf(head), availableAt: this.resources.now() };
      await this.queue.add(manager, [{ id, kind, payload: encodeJob(job), ...place }]);
    });
  }

  /** @throws MessageTakenError */
  private async takeBoth(manager: EntityManager, wait: WaitRow, take: TakeMessage): Promise<void> {
    if (!(await Messages.removeWait(manager, wait)) || !(await take(manager))) {
      throw new MessageTakenError();
    }
  }
}
