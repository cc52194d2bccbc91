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
 * Delivers a message to a token of another shard. The transaction of the token records the delivery, so a repeated job changes nothing. If
 * the token has moved on, the message is published again. Never given up, because the job is the only copy of the message.
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

  /** Whether message and receiver cannot share a transaction. */
  get isNeeded(): boolean {
    return this.groups.areApart;
  }

  /**
   * Replaces a message by a job in its shard, in one transaction: so it has one receiver and survives a crash.
   */
  async send(message: MessageRow, wait: WaitRow): Promise<void> {
    const [publishedAt, expiresAt] = [message.publishedAt.getTime(), message.expiresAt.getTime()];
    const job = { kind: 'HAND_OVER', message: { ...message, publishedAt, expiresAt }, wait } as const;
    await this.replace(job, message.waitKey, (manager) => Messages.removeMessage(manager, message));
  }

  /** Delivers the message, and adds a job that looks for a receiver of the next one. */
  async run(job: Job): Promise<void> {
    const { message: sent, wait } = decodeJob<'HAND_OVER'>(job.payload);
    const { publishedAt, expiresAt } = sent;
    const message = { ...sent, publishedAt: new Date(publishedAt), expiresAt: new Date(expiresAt) };
    const [note, shard] = [`message:${message.id}`, shardOf(wait.instanceId)];
    await this.deliveries.deliver(message, wait, (manager) =>
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

  /** Adds a job in the transaction of a change, if the change was made. */
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
