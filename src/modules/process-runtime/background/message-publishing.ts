import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Database } from '../../../database/database.js';
import { ShardGroups, shardOfHash } from '../../../database/shards.js';
import type { Job } from '../../jobs/model/job-queue.types.js';
import { decodeJob, latest } from '../steps/runtime-job.js';
import { StepResources } from '../steps/step-resources.js';
import type { InstanceHead } from '../storage/instance.row.js';
import { MessagesRepository, waitKey, type MessageRow } from '../storage/messages.repository.js';
import { RepeatsService } from '../../repeats/repeats.service.js';
import { processLimits } from '../process.limits.js';

const SECOND_MS = 1_000;

/** Stores messages. Those of one key are in one shard, and their sender may be in another. */
@Injectable()
export class MessagePublishing {
  private readonly lifetimeMs: number;

  constructor(
    private readonly messages: MessagesRepository,
    private readonly repeats: RepeatsService,
    private readonly database: Database,
    private readonly resources: StepResources,
    private readonly groups: ShardGroups,
  ) {
    this.lifetimeMs = processLimits.messageTtlSeconds * SECOND_MS;
  }

  /** Whether a message is published before the transaction of its sender, by `publishApart`. */
  get isApart(): boolean {
    return this.groups.areApart;
  }

  /** Publishes the message of a job. @returns the key by which receivers look for it */
  async publish(manager: EntityManager, job: Job, sender: InstanceHead): Promise<string> {
    const message = this.messageOf(job, sender);
    if (!this.isApart) {
      await this.messages.publish(manager, message);
    }
    return message.waitKey;
  }

  /** Publishes the message of a job with a note, so that the job, when it runs again, does not publish it again. */
  async publishApart(job: Job, sender: InstanceHead): Promise<void> {
    const message = this.messageOf(job, sender);
    const shard = shardOfHash(message.waitKey);
    await this.database.write(async (manager) => {
      if (await this.repeats.note(manager, `published:${message.id}`, shard, message.publishedAt)) {
        await this.messages.publish(manager, message);
      }
    });
  }

  private messageOf({ id, payload: text }: Job, { rootAppId }: InstanceHead): MessageRow {
    const { message, correlation, payload } = decodeJob<'PUBLISH_MESSAGE'>(text);
    const publishedAt = this.resources.now();
    return {
      id,
      waitKey: waitKey({ rootAppId, message, correlation }),
      appId: rootAppId,
      message,
      payload,
      publishedAt,
      expiresAt: latest(new Date(publishedAt.getTime() + this.lifetimeMs)),
    };
  }
}
