import { Injectable } from '@nestjs/common';
import { Clock } from '../../../common/clock.js';
import { Database } from '../../../database/database.js';
import { RunningInstances } from '../../builds/model/builds.types.js';
import type { Job, JobHandler } from '../../jobs/model/job-queue.types.js';
import { EngineRefusal } from '../engine/state/engine.errors.js';
import type { EngineCommand, InstanceStatus } from '../engine/state/engine.types.js';
import { InstanceStepsService } from '../steps/instance-steps.service.js';
import { decodeJob, type RuntimeJob } from '../steps/runtime-job.js';
import { instancesOfBuild } from '../storage/build-instances.js';
import { ScheduledJobs } from './scheduled-jobs.js';

export type WithdrawnBuildWork = Extract<RuntimeJob, { kind: 'WITHDRAWN_BUILD' }>;

/** Instances that one run of the job treats: a few seconds of work. */
const AT_ONCE = 50;

/** What is done to instances, and in which states they have to be. */
const OPERATIONS: Readonly<
  Record<WithdrawnBuildWork['running'], { command: EngineCommand; states: readonly InstanceStatus[] }>
> = {
  [RunningInstances.Hold]: { command: { kind: 'HOLD' }, states: ['STARTED'] },
  [RunningInstances.Terminate]: {
    command: { kind: 'END', state: 'TERMINATED' },
    states: ['CREATED', 'STARTED', 'ONHOLD'],
  },
};

/**
 * Holds or terminates running instances of a withdrawn build, some at a time, until a while after the withdrawal. The history of each
 * names who withdrew the build. Never given up.
 */
@Injectable()
export class WithdrawnBuildHandler implements JobHandler {
  readonly kind = 'WITHDRAWN_BUILD';

  constructor(
    private readonly database: Database,
    private readonly steps: InstanceStepsService,
    private readonly jobs: ScheduledJobs,
    private readonly clock: Clock,
  ) {}

  async run(job: Job): Promise<void> {
    const work = decodeJob<'WITHDRAWN_BUILD'>(job.payload);
    const { states } = OPERATIONS[work.running];
    const ids = await this.database.read((manager) => instancesOfBuild(manager, work, states, AT_ONCE));
    const failures: unknown[] = [];
    for (const id of ids) {
      await this.operate(id, work).catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) {
      throw failures[0];
    }
    await this.jobs.replace(job, this.next(work, ids.length > 0));
  }

  private async operate(id: number, { running, actor }: WithdrawnBuildWork): Promise<void> {
    const { command } = OPERATIONS[running];
    try {
      await this.steps.run<void>({ id }, { actor, decide: () => ({ command, after: () => undefined }) });
    } catch (error) {
      // It has ended, or was held, meanwhile.
      if (!(error instanceof EngineRefusal)) {
        throw error;
      }
    }
  }

  private next(work: WithdrawnBuildWork, hasMore: boolean): WithdrawnBuildWork | null {
    const now = this.clock.now().getTime();
    if (hasMore) {
      return { ...work, at: now };
    }
    return now < work.until ? { ...work, at: work.until } : null;
  }
}
