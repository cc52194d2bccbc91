import { Injectable } from '@nestjs/common';
import type { Job, JobHandler } from '../../jobs/model/job-queue.types.js';
import { QuotaExceededError } from '../../quotas/model/quotas.errors.js';
import type { EngineCommand } from '../engine/state/engine.types.js';
import { JobSteps } from './job-steps.js';
import { decodeJob, type RuntimeJob } from '../steps/runtime-job.js';

/** The instance that a job belongs to; every job of this module names one. */
export function ownerOf({ instanceId }: Job): number {
  if (instanceId === null) {
    throw new TypeError('A job of a process belongs to an instance.');
  }
  return instanceId;
}

/** What an incident tells of a job that failed for reasons that are not the process's. */
export function givenUp(job: Job, error: unknown): string {
  const name = error instanceof Error ? error.name : 'Error';
  const why = error instanceof QuotaExceededError ? ` ${said(error)}` : '';
  return `The background work ${job.kind} did not succeed in ${job.attempts} attempts (${name}).${why}`;
}

/** What a caller would be told. */
export function said({ message, details }: QuotaExceededError): string {
  return `${message} ${details}`;
}

/** A job that is nothing but one command for its instance. */
@Injectable()
abstract class CommandHandler<Kind extends RuntimeJob['kind']> implements JobHandler {
  abstract readonly kind: Kind;

  constructor(protected readonly steps: JobSteps) {}

  async run(job: Job): Promise<void> {
    await this.steps.make(job, ownerOf(job), () => this.command(decodeJob<Kind>(job.payload)));
  }

  async giveUp(job: Job, error: unknown): Promise<void> {
    const work = decodeJob<Kind>(job.payload);
    const place = 'visit' in work && 'tokenId' in work ? { tokenId: work.tokenId, visit: work.visit } : {};
    await this.steps.stop(job, ownerOf(job), { message: givenUp(job, error), ...place });
  }

  protected abstract command(work: Extract<RuntimeJob, { kind: Kind }>): EngineCommand;
}

/** A timer event of a token is due. */
@Injectable()
export class TimerHandler extends CommandHandler<'TIMER'> {
  readonly kind = 'TIMER';

  protected command({ tokenId, visit, node }: Extract<RuntimeJob, { kind: 'TIMER' }>): EngineCommand {
    return { kind: 'TIMER', tokenId, visit, node };
  }
}

/** The delay of an automatic action is over. */
@Injectable()
export class ActionDueHandler extends CommandHandler<'ACTION_DUE'> {
  readonly kind = 'ACTION_DUE';

  protected command(work: Extract<RuntimeJob, { kind: 'ACTION_DUE' }>): EngineCommand {
    const { tokenId, visit, actionSvcUuid } = work;
    return { kind: 'ACTION_DUE', tokenId, visit, actionSvcUuid };
  }
}

/** A step had gone through as many nodes as one transaction may; this is the next part. */
@Injectable()
export class ContinueHandler extends CommandHandler<'CONTINUE'> {
  readonly kind = 'CONTINUE';

  protected command(): EngineCommand {
    return { kind: 'CONTINUE' };
  }
}

/** An instance has run for as long as its definition allows. */
@Injectable()
export class ExpiryHandler extends CommandHandler<'EXPIRY'> {
  readonly kind = 'EXPIRY';

  protected command(): EngineCommand {
    return { kind: 'END', state: 'EXPIRED' };
  }
}

/** A message was given to a token in a transaction that stopped; this is for the retry of its incident. */
@Injectable()
export class DeliveryHandler extends CommandHandler<'DELIVERY'> {
  readonly kind = 'DELIVERY';

  protected command(work: Extract<RuntimeJob, { kind: 'DELIVERY' }>): EngineCommand {
    const { tokenId, visit, node, payload } = work;
    return { kind: 'MESSAGE', tokenId, visit, node, payload };
  }
}
