import { Injectable } from '@nestjs/common';
import { Database } from '../../store/database.js';
import { ShardGroups, shardOfHash } from '../../store/shards.js';
import type { Job, JobHandler } from '../../jobs/model/job-queue.types.js';
import { JobQueueService } from '../../jobs/queue/job-queue.service.js';
import { RepeatsService } from '../../idempotency/repeats.service.js';
import { processLimits } from '../process.limits.js';
import { decodeJob, limitedTime } from '../steps/runtime-job.js';
import { StepResources } from '../steps/step-resources.js';
import { toNewJob } from '../steps/step-work.js';
import type { InstanceHead } from '../storage/process-instance.entity.js';
import { Messages, waitKey, type MessageRow, type WaitRow } from '../storage/messages.repository.js';
import { HandOverHandler } from './hand-over.handler.js';
import { JobSteps, givenUpMessage, ownerOf } from './job-steps.js';
import { MessageDeliveries, MessageStarts } from './message-deliveries.js';

const SECOND_MS = 1_000;

/**
 * Publishes a message for current and future receivers. Messages of one key are in one shard, and their sender may be in another. Never
 * given up, because the process is not at fault.
 */
@Injectable()
export class PublishMessageHandler implements JobHandler {
  readonly kind = 'PUBLISH_MESSAGE';

  constructor(
    private readonly database: Database,
    private readonly steps: JobSteps,
    private readonly repeats: RepeatsService,
    private readonly groups: ShardGroups,
    private readonly queue: JobQueueService,
    private readonly resources: StepResources,
  ) {}

  async run(job: Job): Promise<void> {
    const id = await this.resources.nextId('job');
    const sender = await this.steps.instanceOf(job);
    if (sender === null) {
      await this.steps.drop(job);
      return;
    }
    const message = this.messageOf(job, sender);
    if (this.groups.areApart) {
      await this.publishApart(message);
    }
    const match = { kind: 'MATCH_MESSAGE', key: message.waitKey } as const;
    await this.database.write(async (manager) => {
      if (!this.groups.areApart) {
        await Messages.publish(manager, message);
      }
      await this.queue.add(manager, [{ id, ...toNewJob(sender, match, this.resources.now()) }]);
      await this.queue.complete(manager, job);
    });
  }

  /** Publishes a message with a note, so that a repeated job does not publish it again. */
  private async publishApart(message: MessageRow): Promise<void> {
    const shard = shardOfHash(message.waitKey);
    await this.database.write(async (manager) => {
      if (await this.repeats.note(manager, `published:${message.id}`, shard, message.publishedAt)) {
        await Messages.publish(manager, message);
      }
    });
  }

  private messageOf({ id, payload: text }: Job, { rootAppId }: InstanceHead): MessageRow {
    const { message, correlation, payload } = decodeJob<'PUBLISH_MESSAGE'>(text);
    const publishedAt = this.resources.now();
    const lifetimeMs = processLimits.messageTtlSeconds * SECOND_MS;
    return {
      id,
      waitKey: waitKey(rootAppId, message, correlation),
      appId: rootAppId,
      message,
      payload,
      publishedAt,
      expiresAt: limitedTime(new Date(publishedAt.getTime() + lifetimeMs)),
    };
  }
}

/**
 * Matches messages and receivers: delivers the oldest message to the token that has waited longest, else to a message start event of the
 * active build. Publishing and waiting both add a job of this kind, so the later one finds the other. The transaction of the step removes
 * message and wait.
 */
@Injectable()
export class MatchMessageHandler implements JobHandler {
  readonly kind = 'MATCH_MESSAGE';

  constructor(
    private readonly database: Database,
    private readonly steps: JobSteps,
    private readonly deliveries: MessageDeliveries,
    private readonly starts: MessageStarts,
    private readonly handOvers: HandOverHandler,
    private readonly resources: StepResources,
  ) {}

  async run(job: Job): Promise<void> {
    const { key } = decodeJob<'MATCH_MESSAGE'>(job.payload);
    while (await this.matchOne(key)) {
      // The next message may have a receiver too.
    }
    await this.steps.drop(job);
  }

  async giveUp(job: Job, error: unknown): Promise<void> {
    await this.steps.stop(job, ownerOf(job), { message: givenUpMessage(job, error) });
  }

  /** @returns false without a message or receiver, or when the message is sent to another shard, whose job continues */
  private async matchOne(key: string): Promise<boolean> {
    const now = this.resources.now();
    const { message, waiting } = await this.database.read(async (manager) => ({
      message: await Messages.oldestMessage(manager, key, now),
      waiting: await Messages.waiting(manager, key),
    }));
    this.deliveries.warnIfAmbiguous(waiting);
    if (message === null) {
      return false;
    }
    const { first } = waiting;
    return first === null ? this.starts.start(message) : this.giveOrSend(message, first);
  }

  private async giveOrSend(message: MessageRow, wait: WaitRow): Promise<boolean> {
    if (this.handOvers.isNeeded) {
      // The wait exists until the message has arrived, so other messages would be sent to it too.
      await this.handOvers.send(message, wait);
      return false;
    }
    await this.deliveries.deliver(message, wait, (manager) => Messages.removeMessage(manager, message));
    return true;
  }
}
