import { Injectable } from '@nestjs/common';
import { Database } from '../../../database/database.js';
import { JobQueueService } from '../../jobs/queue/job-queue.service.js';
import { encodeJob } from '../steps/runtime-job.js';
import { StepResources } from '../steps/step-resources.js';
import { familyOf } from '../storage/families.repository.js';
import { InstancesRepository } from '../storage/instances.repository.js';
import { MessagesRepository, type MessageRow, type WaitRow } from '../storage/messages.repository.js';

/** Somebody else took the message or used up the wait. */
export class MessageTakenError extends Error {
  override readonly name = 'MessageTakenError';
}

/** What becomes of a message whose receiver stops behind it: a job of the token takes it over, and ends in an incident that can be retried. */
@Injectable()
export class MessageHandOvers {
  constructor(
    private readonly database: Database,
    private readonly messages: MessagesRepository,
    private readonly instances: InstancesRepository,
    private readonly queue: JobQueueService,
    private readonly resources: StepResources,
  ) {}

  /** Unless the token has gone on meanwhile, or somebody else has the message: then the other of the two stays where it is. */
  async leaveToJob(message: MessageRow, wait: WaitRow): Promise<void> {
    try {
      await this.addJob(message, wait);
    } catch (error) {
      if (!(error instanceof MessageTakenError)) {
        throw error;
      }
    }
  }

  /** @throws MessageTakenError */
  private async addJob(message: MessageRow, wait: WaitRow): Promise<void> {
    const { payload } = message;
    const { tokenId, visit, node, instanceId } = wait;
    const job = { kind: 'DELIVERY', tokenId, visit, node, payload } as const;
    const jobId = await this.resources.nextId('job');
    await this.database.write(async (manager) => {
      const isOurs =
        (await this.messages.removeWait(manager, wait)) &&
        (await this.messages.removeMessage(manager, message));
      const head = isOurs ? await this.instances.findHead(manager, { id: instanceId }) : null;
      if (head === null) {
        throw new MessageTakenError();
      }
      const { kind } = job;
      const availableAt = this.resources.now();
      const familyId = familyOf(head);
      await this.queue.add(manager, [
        { id: jobId, kind, availableAt, payload: encodeJob(job), instanceId, tokenId, familyId },
      ]);
    });
    this.queue.wake();
  }
}
