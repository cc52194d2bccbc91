import { Injectable } from '@nestjs/common';
import { Env } from '../../../config/env.js';
import { Database } from '../../../database/database.js';
import { JobQueueService } from '../../jobs/queue/job-queue.service.js';
import type { Job, JobHandler } from '../../jobs/model/job-queue.types.js';
import { MessageMatcher } from './message-matcher.js';
import { MessagesRepository, waitKey } from '../storage/messages.repository.js';
import { familyOf } from '../storage/families.repository.js';
import { InstancesRepository } from '../storage/instances.repository.js';
import { JobSteps } from './job-steps.js';
import { decodeJob, encodeJob, latest } from '../steps/runtime-job.js';
import { StepResources } from '../steps/step-resources.js';
import { givenUp, ownerOf } from './token-job.handlers.js';

const SECOND_MS = 1_000;

/** Puts a message where those who wait for it look, or begin to wait for it later. Never given up: the process cannot be at fault. */
@Injectable()
export class PublishMessageHandler implements JobHandler {
  readonly kind = 'PUBLISH_MESSAGE';

  constructor(
    private readonly database: Database,
    private readonly instances: InstancesRepository,
    private readonly messages: MessagesRepository,
    private readonly queue: JobQueueService,
    private readonly resources: StepResources,
    private readonly env: Env,
  ) {}

  async run(job: Job): Promise<void> {
    const { message, correlation, payload } = decodeJob<'PUBLISH_MESSAGE'>(job.payload);
    const matchId = await this.resources.nextId('job');
    await this.database.write(async (manager) => {
      const head = await this.instances.findHead(manager, { id: ownerOf(job) });
      if (head !== null) {
        const { rootAppId } = head;
        const key = waitKey({ rootAppId, message, correlation });
        const now = this.resources.now();
        const expiry = now.getTime() + this.env.get('PROCESS_MESSAGE_TTL_SECONDS') * SECOND_MS;
        await this.messages.publish(manager, {
          id: job.id,
          waitKey: key,
          appId: rootAppId,
          message,
          payload,
          publishedAt: now,
          expiresAt: latest(new Date(expiry)),
        });
        const match = { kind: 'MATCH_MESSAGE', key } as const;
        const { kind } = match;
        await this.queue.add(manager, [
          {
            id: matchId,
            kind,
            availableAt: now,
            payload: encodeJob(match),
            instanceId: head.id,
            familyId: familyOf(head),
          },
        ]);
      }
      await this.queue.complete(manager, job);
    });
    this.queue.wake();
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
