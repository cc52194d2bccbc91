import { Injectable } from '@nestjs/common';
import { Env } from '../../platform/config/env.js';
import { isDuplicate } from '../../store/connection/driver-errors.js';
import { JobQueueService } from '../../jobs/queue/job-queue.service.js';
import type { NewJob } from '../../jobs/model/job-queue.types.js';
import { WorkflowRunsService } from '../calls/workflows/runs/workflow-runs.service.js';
import { EngineIncident, type MessageWait, type StepResult } from '#engine/tokens';
import {
  withRunKeyOf,
  encodeJob,
  expiryKey,
  limitedTime,
  type RuntimeJob,
  stoppedRunOf,
  VISIT_KINDS,
} from './runtime-job.js';
import { familyOf } from '../storage/families.repository.js';
import type { InstanceHead, InstanceRow, ParkedJob } from '../storage/process-instance.entity.js';
import { Messages, waitKey } from '../storage/messages.repository.js';
import { expiryAfter, expiryJob, hasEnded, isReleased } from './instance-status.js';
import { FamilyLimits } from './family-limits.js';
import type { StepWriting } from './step.types.js';

/** Adds and ends what runs between the steps of an instance: jobs, workflow runs and waits for messages. */
@Injectable()
export class StepWork {
  constructor(
    private readonly queue: JobQueueService,
    private readonly workflows: WorkflowRunsService,
    private readonly families: FamilyLimits,
    private readonly env: Env,
  ) {}

  /** Whether the step needs a transaction of its own: it locks its family, or a duplicate wait might break its group. */
  isAlone(row: InstanceRow, result: StepResult): boolean {
    return this.families.locksFamily(row, result) || (this.isStrict && result.waits.length > 0);
  }

  private get isStrict(): boolean {
    return this.env.get('PROCESS_MESSAGE_ONE_RECEIVER');
  }

  /** Completes the job of the step, and cancels what waits or runs for tokens that the step cancels. */
  async end({ transaction, row, tokens, definition, result, job, retried }: StepWriting): Promise<void> {
    if (job !== undefined) {
      await this.queue.complete(transaction, job);
    }
    const runKey = retried === undefined ? null : stoppedRunOf(retried.job);
    if (runKey !== null) {
      // A retry is the decision to repeat calls of unknown outcome.
      await this.workflows.release(transaction, runKey, row.shard);
    }
    const cancelled = result.cancelledTokens;
    const withJobs = cancelled.filter((id) => tokens.get(id)?.hasJobs === true);
    const withWaits = cancelled.filter((id) => tokens.get(id)?.hasWaits === true);
    await this.queue.cancelOfToken(transaction, row.id, withJobs, [...VISIT_KINDS]);
    if (definition.runtime.startsWorkflows) {
      await this.workflows.cancel(transaction, { processInstanceUuid: row.uuid, shard: row.shard }, withJobs);
    }
    await Messages.removeWaitsOf(transaction, row.id, withWaits);
    if (row.expiresAt !== null && hasEnded(result.instance.state)) {
      await this.queue.cancelKeys(transaction, [expiryKey(row.id)], row.shard);
    }
  }

  /**
   * Adds the jobs and waits of the step, and what was parked while the instance was on hold.
   * @throws EngineIncident when the process family would exceed its limits, or another token waits for the same message
   */
  async add(step: StepWriting): Promise<void> {
    const { transaction, row, result, takeId } = step;
    const keys = new Set(await this.addWaits(step));
    if (isReleased(row, result.instance.state)) {
      (await Messages.keysOf(transaction, row.id)).forEach((key) => keys.add(key));
    }
    const added = newJobs(step, [...keys]).map((job) => ({ ...job, id: takeId('job') }));
    if (added.length > 0) {
      await this.families.requireJobRoom(step);
      await this.queue.add(transaction, added);
    }
    await this.families.count(step);
  }

  /** @returns the keys of the waits */
  private async addWaits({ transaction, row, result: { waits }, takeId }: StepWriting): Promise<string[]> {
    const rows = waits.map((wait) => {
      const key = waitKey(row.rootAppId, wait.message, wait.correlation);
      const onlyKey = this.isStrict && wait.correlation !== null ? key : null;
      return { ...wait, id: takeId('process-wait'), waitKey: key, onlyKey };
    });
    try {
      await Messages.addWaits(transaction, row, rows);
    } catch (error) {
      throw isDuplicate(error) ? secondReceiver(waits) : error;
    }
    return rows.map((wait) => wait.waitKey);
  }
}

function secondReceiver(waits: readonly MessageWait[]): EngineIncident {
  const names = [...new Set(waits.map(({ message }) => JSON.stringify(message)))].join(', ');
  const message = `Another token already waits for the message ${names} with the same correlation (PROCESS_MESSAGE_ONE_RECEIVER).`;
  const [place = {}] = waits.map(({ node, tokenId }) => ({ node, tokenId }));
  return new EngineIncident('NODE', 'ENGINE', message, place);
}

type JobOwner = Pick<InstanceHead, 'id' | 'rootId'>;

function newJobs(step: StepWriting, keys: string[]): NewJob[] {
  const { row, result, now, retried } = step;
  const jobs: RuntimeJob[] = [
    ...result.jobs,
    ...keys.map((key) => ({ kind: 'MATCH_MESSAGE' as const, key })),
  ];
  const parked = isReleased(row, result.instance.state) ? row.content.parked : [];
  const expiresAt = row.state === 'CREATED' ? expiryAfter(step, now) : null;
  const expiry = expiresAt !== null && !hasEnded(result.instance.state) ? [expiryJob(row.id, expiresAt)] : [];
  return [
    ...jobs.map((job) => toNewJob(row, job, now)),
    ...parked.map((job) => unparked(row, job, now)),
    ...expiry,
  ].map((job) => ({ ...job, shard: row.shard, payload: withRunKeyOf(job, retried?.job) }));
}

/** Returns a job of an instance for the queue. */
export function toNewJob(row: JobOwner, job: RuntimeJob, now: Date): NewJob {
  return {
    kind: job.kind,
    availableAt: 'at' in job ? limitedTime(new Date(job.at)) : now,
    payload: encodeJob(job),
    instanceId: row.id,
    familyId: familyOf(row),
    ...('tokenId' in job && job.tokenId !== null ? { tokenId: job.tokenId } : {}),
  };
}

/** Returns a parked job for the queue. */
export function unparked(
  row: JobOwner,
  { kind, instanceId, tokenId, payload }: ParkedJob,
  now: Date,
): NewJob {
  return {
    kind,
    availableAt: now,
    payload,
    instanceId: instanceId ?? row.id,
    familyId: familyOf(row),
    ...(tokenId === null ? {} : { tokenId }),
  };
}
