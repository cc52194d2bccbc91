import { Injectable } from '@nestjs/common';
import type { SqlExecutor } from '../../store/groups/shared-transaction.js';
import { Database } from '../../store/database.js';
import { JobQueueService } from '../../jobs/queue/job-queue.service.js';
import type { Job } from '../../jobs/model/job-queue.types.js';
import { QuotaExceededError } from '../quotas/model/quotas.errors.js';
import { EngineRefusal, type EngineCommand } from '#engine/tokens';
import type { Fault } from '../steps/incident-records.js';
import { IncidentsService } from '../steps/incidents.service.js';
import { InstanceStepsService } from '../steps/instance-steps.service.js';
import { ProcessInstanceNotFoundError } from '../model/process-runtime.errors.js';
import { FailedStepError } from '../steps/step-failures.js';
import { hasEnded } from '../steps/instance-status.js';
import type { InstanceHead, InstanceRow } from '../storage/process-instance.entity.js';
import { Instances } from '../storage/instances.repository.js';
import { Tokens } from '../storage/tokens.repository.js';
import { runKeyOf } from '../steps/runtime-job.js';

/** Default place of the fault of a job. */
const UNKNOWN_PLACE = {
  source: 'NODE',
  type: 'ENGINE',
  tokenId: null,
  visit: null,
  node: null,
  actionSvcUuid: null,
} as const satisfies Partial<Fault>;

/** Returns the id of the instance that a job belongs to. */
export function ownerOf({ instanceId }: Job): number {
  if (instanceId === null) {
    throw new TypeError('A job of a process belongs to an instance.');
  }
  return instanceId;
}

/** Returns the message of the incident of a job that failed for technical reasons. */
export function givenUpMessage(job: Job, error: unknown): string {
  const name = error instanceof Error ? error.name : 'Error';
  const why = error instanceof QuotaExceededError ? ` ${quotaMessage(error)}` : '';
  return `The background work ${job.kind} did not succeed in ${job.attempts} attempts (${name}).${why}`;
}

/** Returns message and details of an exceeded quota in one text. */
export function quotaMessage({ message, details }: QuotaExceededError): string {
  return `${message} ${details}`;
}

/** Steps of background jobs: made once, parked while the instance is on hold, dropped when they are late. */
@Injectable()
export class JobSteps {
  constructor(
    private readonly database: Database,
    private readonly steps: InstanceStepsService,
    private readonly incidents: IncidentsService,
    private readonly queue: JobQueueService,
  ) {}

  /** Returns the instance that a job belongs to; null when it was removed. */
  instanceOf(job: Job): Promise<InstanceHead | null> {
    return this.database.read((manager) => Instances.findHead(manager, { id: ownerOf(job) }));
  }

  /** Returns the instance if the token is still active on the visit of the job, else null. */
  instanceAt(job: Job, { tokenId, visit }: { tokenId: number; visit: number }): Promise<InstanceHead | null> {
    return this.database.read(async (manager) => {
      const [token] = await Tokens.byIds(manager, ownerOf(job), [tokenId]);
      return token?.state.visit === visit && token.state.state === 'ACTIVE'
        ? Instances.findHead(manager, { id: ownerOf(job) })
        : null;
    });
  }

  /** Makes a step whose transaction completes the job. An incident also completes the job, and keeps it for a retry. */
  async make(job: Job, instanceId: number, command: EngineCommand): Promise<void> {
    try {
      await this.steps.transact({ id: instanceId }, async (held) => {
        if (await this.endsWithoutStep(held.transaction, held.row, job)) {
          this.steps.noteChange(held);
        } else {
          await this.steps.make(held, command, { actor: null, job });
        }
      });
    } catch (error) {
      await this.handleFailure(job, instanceId, error);
    }
  }

  /** Carries out a command, unless it no longer fits the state of the instance. */
  async tryTo(id: number, command: EngineCommand, actor: string | null): Promise<void> {
    try {
      await this.steps.transact({ id }, (held) => this.steps.make(held, command, { actor }));
    } catch (error) {
      if (!(error instanceof EngineRefusal)) {
        throw error;
      }
    }
  }

  /** Completes a job without effect. */
  async drop(job: Job): Promise<void> {
    await this.database.write((manager) => this.queue.complete(manager, job));
  }

  /** Completes a job with an incident, which keeps it for a retry. */
  async stop(job: Job, instanceId: number, fault: Partial<Fault> & { message: string }): Promise<void> {
    await this.incidents.record(instanceId, { ...UNKNOWN_PLACE, ...fault }, { job });
  }

  /** Parks a job whose instance is on hold, in a transaction of its own. @returns whether the job is completed */
  async parkIfOnHold(job: Job, instanceId: number): Promise<boolean> {
    return this.database.write(async (manager) => {
      const row = await Instances.lock(manager, { id: instanceId });
      return row !== null && (await this.endsWithoutStep(manager, row, job));
    });
  }

  private async handleFailure(job: Job, instanceId: number, error: unknown): Promise<void> {
    if (error instanceof FailedStepError) {
      await this.incidents.recordStop(error, { job });
    } else if (error instanceof EngineRefusal && error.code === 'DATA_TOO_LARGE') {
      const ids = job.tokenId === null ? [] : [job.tokenId];
      const [token] = await this.database.read((manager) => Tokens.byIds(manager, instanceId, ids));
      const at = token?.state;
      const place = at && { tokenId: at.id, visit: at.visit, node: at.node };
      await this.stop(job, instanceId, { message: error.message, ...place });
    } else if (error instanceof EngineRefusal || error instanceof ProcessInstanceNotFoundError) {
      await this.drop(job);
    } else {
      throw error;
    }
  }

  /** Completes a job whose instance is on hold, which parks it, or has ended. @returns whether the job is completed */
  private async endsWithoutStep(executor: SqlExecutor, row: InstanceRow, job: Job): Promise<boolean> {
    if (row.state === 'ONHOLD') {
      const payload = { ...job.payload, runKey: runKeyOf(job) };
      const { kind, instanceId, tokenId } = job;
      const parked = [...row.content.parked, { kind, instanceId, tokenId, payload }];
      await Instances.update(executor, row, { content: { ...row.content, parked } });
    } else if (!hasEnded(row.state)) {
      return false;
    }
    await this.queue.complete(executor, job);
    return true;
  }
}
