import { Injectable, type Type } from '@nestjs/common';
import type { Job, JobHandler } from '../../jobs/model/job-queue.types.js';
import type { EngineCommand } from '../engine/state/engine.types.js';
import { decodeJob, type RuntimeJob } from '../steps/runtime-job.js';
import { givenUp, JobSteps, ownerOf } from './job-steps.js';

/** The handler of jobs that are nothing but one command for their instance. */
function commandHandler<Kind extends RuntimeJob['kind']>(
  kind: Kind,
  command: (work: Extract<RuntimeJob, { kind: Kind }>) => EngineCommand,
): Type<JobHandler & { readonly kind: Kind }> {
  @Injectable()
  class CommandHandler implements JobHandler {
    readonly kind = kind;

    constructor(private readonly steps: JobSteps) {}

    async run(job: Job): Promise<void> {
      await this.steps.make(job, ownerOf(job), () => command(decodeJob<Kind>(job.payload)));
    }

    async giveUp(job: Job, error: unknown): Promise<void> {
      const work = decodeJob<Kind>(job.payload);
      const place = 'visit' in work && 'tokenId' in work ? { tokenId: work.tokenId, visit: work.visit } : {};
      await this.steps.stop(job, ownerOf(job), { message: givenUp(job, error), ...place });
    }
  }
  return CommandHandler;
}

/** A timer event of a token is due. */
export const TimerHandler = commandHandler('TIMER', ({ at: _at, ...command }) => command);

/** The delay of an automatic action is over. */
export const ActionDueHandler = commandHandler('ACTION_DUE', ({ at: _at, ...command }) => command);

/** A step had gone through as many nodes as one transaction may; this is the next part. */
export const ContinueHandler = commandHandler('CONTINUE', () => ({ kind: 'CONTINUE' }));

/** An instance has run for as long as its definition allows. */
export const ExpiryHandler = commandHandler('EXPIRY', () => ({ kind: 'END', state: 'EXPIRED' }));

/** A message was given to a token in a transaction that stopped; this is for the retry of its incident. */
export const DeliveryHandler = commandHandler('DELIVERY', (work) => ({ ...work, kind: 'MESSAGE' }));
