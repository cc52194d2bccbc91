import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { MessageTakenError, type TakeMessage } from './message-deliveries.js';
import { ShardGroups, shardOfHash } from '../../../database/shards.js';
import { Database } from '../../../database/database.js';
import type { Job } from '../../jobs/model/job-queue.types.js';
import { JobQueueService } from '../../jobs/queue/job-queue.service.js';
import { encodeJob } from '../steps/runtime-job.js';
import { StepResources } from '../steps/step-resources.js';
import { familyOf } from '../storage/families.repository.js';
import { InstancesRepository } from '../storage/instances.repository.js';
import { MessagesRepository, type MessageRow, type WaitRow } from '../storage/messages.repository.js';

/** What becomes of a message that is not given to its receiver at once. */
@Injectable()
export class MessageHandOvers {
  constructor(
    private readonly database: Database,
    private readonly messages: MessagesRepository,
    private readonly instances: InstancesRepository,
    private readonly queue: JobQueueService,
    private readonly resources: StepResources,
    private readonly groups: ShardGroups,
  ) {}

  /** Whether no transaction may touch message and receiver, so that messages are sent. */
  get areSent(): boolean {
    return this.groups.areApart;
  }

  /**
   * A message whose receiver is in another shard becomes a job of its own shard, in one transaction: so it is on its way to one receiver,
   * and is there when a replica dies.
   */
  async send(message: MessageRow, wait: WaitRow): Promise<void> {
    const id = await this.resources.nextId('job');
    const [publishedAt, expiresAt] = [message.publishedAt.getTime(), message.expiresAt.getTime()];
    const job = { kind: 'HAND_OVER', message: { ...message, publishedAt, expiresAt }, wait } as const;
    const shard = shardOfHash(message.waitKey);
    await this.database.write(async (manager) => {
      if (await this.messages.removeMessage(manager, message)) {
        const availableAt = this.resources.now();
        await this.queue.add(manager, [{ id, kind: job.kind, availableAt, payload: encodeJob(job), shard }]);
      }
    });
    this.queue.wake();
  }

  /**
   * A job of the token takes over a message whose receiver stops behind it, and ends in an incident that can be retried. Unless the token
   * has gone on meanwhile, or somebody else has the message: then the other of the two stays where it is.
   */
  async leaveToJob(message: MessageRow, wait: WaitRow, take: TakeMessage): Promise<void> {
    try {
      await this.addJob(message, wait, take);
    } catch (error) {
      if (!(error instanceof MessageTakenError)) {
        throw error;
      }
    }
  }

  /** Removes a wait whose token has gone on. */
  async withdraw(wait: WaitRow): Promise<void> {
    await this.database.write((manager) => this.messages.removeWait(manager, wait));
  }

  /** A message was handed over, and a receiver of the next one is looked for. Ends the job. */
  async complete(job: Job, message: MessageRow): Promise<void> {
    await this.goOn(job, message, async () => undefined);
  }

  /** A message that could not be handed over is there again, and a receiver is looked for. Ends the job. */
  async putBack(job: Job, message: MessageRow): Promise<void> {
    await this.goOn(job, message, (manager) => this.messages.publish(manager, message));
  }

  private async goOn(
    job: Job,
    { waitKey: key }: MessageRow,
    change: (manager: EntityManager) => Promise<unknown>,
  ): Promise<void> {
    const id = await this.resources.nextId('job');
    const match = { kind: 'MATCH_MESSAGE', key } as const;
    const availableAt = this.resources.now();
    await this.database.write(async (manager) => {
      await this.queue.complete(manager, job);
      await change(manager);
      await this.queue.add(manager, [
        { id, kind: match.kind, availableAt, payload: encodeJob(match), shard: shardOfHash(key) },
      ]);
    });
    this.queue.wake();
  }

  /** @throws MessageTakenError */
  private async addJob({ payload }: MessageRow, wait: WaitRow, take: TakeMessage): Promise<void> {
    const { tokenId, visit, node, instanceId } = wait;
    const job = { kind: 'DELIVERY', tokenId, visit, node, payload } as const;
    const jobId = await this.resources.nextId('job');
    await this.database.write(async (manager) => {
      const isOurs = (await this.messages.removeWait(manager, wait)) && (await take(manager));
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
