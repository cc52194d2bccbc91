import { Injectable } from '@nestjs/common';
import { Database } from '../../../database/database.js';
import { JobQueueService } from '../../jobs/queue/job-queue.service.js';
import type { Job, JobHandler } from '../../jobs/model/job-queue.types.js';
import { MessageMatcher } from './message-matcher.js';
import { MessagePublishing } from './message-publishing.js';
import { familyOf } from '../storage/families.repository.js';
import { InstancesRepository } from '../storage/instances.repository.js';
import type { InstanceHead } from '../storage/instance.row.js';
import { JobSteps } from './job-steps.js';
import { decodeJob, encodeJob } from '../steps/runtime-job.js';
import { StepResources } from '../steps/step-resources.js';
import { givenUp, ownerOf } from './token-job.handlers.js';

/** Puts a message where those who wait for it look, or begin to wait for it later. Never given up: the process cannot be at fault. */
@Injectable()
export class PublishMessageHandler implements JobHandler {
  readonly kind = 'PUBLISH_MESSAGE';

  constructor(
    private readonly database: Database,
    private readonly instances: InstancesRepository,
    private readonly publishing: MessagePublishing,
    private readonly queue: JobQueueService,
    private readonly resources: StepResources,
  ) {}

  async run(job: Job): Promise<void> {
    const matchId = await this.resources.nextId('job');
    const sender = this.publishing.isApart ? await this.senderOf(job) : null;
    if (sender !== null) {
      await this.publishing.publishApart(job, sender);
    }
    await this.database.write(async (manager) => {
      const head = await this.instances.findHead(manager, { id: ownerOf(job) });
      if (head !== null) {
        const match = {
          kind: 'MATCH_MESSAGE',
          key: await this.publishing.publish(manager, job, head),
        } as const;
        const { kind } = match;
        const availableAt = this.resources.now();
        const owner = { instanceId: head.id, familyId: familyOf(head) };
        await this.queue.add(manager, [
          { id: matchId, kind, availableAt, payload: encodeJob(match), ...owner },
        ]);
      }
      await this.queue.complete(manager, job);
    });
    this.queue.wake();
  }

  private senderOf(job: Job): Promise<InstanceHead | null> {
    return this.database.read((manager) => this.instances.findHead(manager, { id: ownerOf(job) }));
  }
}

/** Brings messages and those who wait for them together. */
@Injectable()
export class MatchMessageHandler implements JobHandler {
  readonly kind = 'MATCH_MESSAGE';

  constructor(
    private readonly matcher: MessageMatcher,
    private readonly steps: JobSteps,
  ) {}

  async run(job: Job): Promise<void> {
    await this.matcher.match(decodeJob<'MATCH_MESSAGE'>(job.payload).key);
    await this.steps.drop(job);
  }

  async giveUp(job: Job, error: unknown): Promise<void> {
    await this.steps.stop(job, ownerOf(job), { message: givenUp(job, error) });
  }
}
