import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Database } from '../../store/database.js';
import { ShardGroups, shardOf, shardOfHash } from '../../store/shards.js';
import type { Job, JobHandler } from '../../jobs/model/job-queue.types.js';
import { JobQueueService } from '../../jobs/queue/job-queue.service.js';
import { RepeatsService } from '../../idempotency/repeats.service.js';
import { decodeJob, encodeJob, type RuntimeJob } from '../steps/runtime-job.js';
import { StepResources } from '../steps/step-resources.js';
import { Messages, type MessageRow, type WaitRow } from '../storage/messages.repository.js';
import { MessageDeliveries } from './message-deliveries.js';

type Work = Extract<RuntimeJob, { kind: 'HAND_OVER' | 'MATCH_MESSAGE' }>;

/**
 * Gives a message to a token of another shard. The transaction of the token notes that it has the message, so that a job that runs again
 * changes nothing. Where the token has gone on, the message is put back. Never given up: the job is all that there is of the message.
 */
@Injectable()
export class HandOverHandler implements JobHandler {
  readonly kind = 'HAND_OVER';

  constructor(
    private readonly database: Database,
    private readonly groups: ShardGroups,
    private readonly repeats: RepeatsService,
    private readonly deliveries: MessageDeliveries,
    private readonly queue: JobQueueService,
    private readonly resources: StepResources,
  ) {}

  /** Whether no transaction may touch message and receiver, so that messages are sent. */
  get isNeeded(): boolean {
    return this.groups.areApart;
  }

  /**
   * A message whose receiver is in another shard becomes a job of its own shard, in one transaction: so it is on its way to one receiver,
   * and is there when a replica dies.
   */
  async send(message: MessageRow, wait: WaitRow): Promise<void> {
    const [publishedAt, expiresAt] = [message.publishedAt.getTime(), message.expiresAt.getTime()];
    const job = { kind: 'HAND_OVER', message: { ...message, publishedAt, expiresAt }, wait } as const;
    await this.replace(job, message.waitKey, (manager) => Messages.removeMessage(manager, message));
  }

  /** Whatever became of the message, a receiver of the next one is looked for. */
  async run(job: Job): Promise<void> {
    const { message: sent, wait } = decodeJob<'HAND_OVER'>(job.payload);
    const { publishedAt, expiresAt } = sent;
    const message = { ...sent, publishedAt: new Date(publishedAt), expiresAt: new Date(expiresAt) };
    const [note, shard] = [`message:${message.id}`, shardOf(wait.instanceId)];
    await this.deliveries.give(message, wait, (manager) =>
      this.repeats.note(manager, note, shard, this.resources.now()),
    );
    const isGiven = await this.database.read((manager) => this.repeats.isNoted(manager, note, shard));
    const match = { kind: 'MATCH_MESSAGE', key: message.waitKey } as const;
    await this.replace(match, message.waitKey, async (manager) => {
      await this.queue.complete(manager, job);
      if (!isGiven) {
        await Messages.publish(manager, message);
      }
      return true;
    });
  }

  /** Adds a job beside a message in the transaction of a change, unless that was not made. */
  private async replace(
    job: Work,
    key: string,
    change: (manager: EntityManager) => Promise<boolean>,
  ): Promise<void> {
    const id = await this.resources.nextId('job');
    await this.database.write(async (manager) => {
      if (await change(manager)) {
        const place = { availableAt: this.resources.now(), shard: shardOfHash(key) };
        await this.queue.add(manager, [{ id, kind: job.kind, payload: encodeJob(job), ...place }]);
      }
    });
  }
}
