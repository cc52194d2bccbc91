import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Database } from '../../store/database.js';
import { RunningInstances, type Withdrawal } from '../../delivery/builds/model/builds.types.js';
import type { Job, JobHandler } from '../../jobs/model/job-queue.types.js';
import type { EngineCommand, InstanceStatus } from '#engine/tokens';
import { decodeJob, type RuntimeJob } from '../steps/runtime-job.js';
import { InstanceListsRepository } from '../storage/instance-lists.repository.js';
import { JobSteps } from './job-steps.js';
import { ScheduledJobs } from './scheduled-jobs.js';
import { ActiveBuildsService } from '../../delivery/builds/active/active-builds.service.js';

type WithdrawnBuildWork = Extract<RuntimeJob, { kind: 'WITHDRAWN_BUILD' }>;

/** Milliseconds after the withdrawal. By then, every start that was in progress at the withdrawal is stored. */
const RECHECK_MS = 60_000;
/** Maximum number of instances per run of the job: a few seconds of work. */
const BATCH_SIZE = 50;

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
 * Holds or terminates running instances of a withdrawn build in batches, until some time after the withdrawal. Each instance's
 * history names the user who withdrew the build. Never given up.
 */
@Injectable()
export class WithdrawnBuildHandler implements JobHandler, OnModuleInit {
  readonly kind = 'WITHDRAWN_BUILD';
  private readonly reserved = new WeakMap<Withdrawal, number>();

  constructor(
    private readonly database: Database,
    private readonly lists: InstanceListsRepository,
    private readonly steps: JobSteps,
    private readonly jobs: ScheduledJobs,
    private readonly builds: ActiveBuildsService,
  ) {}

  onModuleInit(): void {
    this.builds.onWithdrawn({
      prepare: async (withdrawal) => {
        this.reserved.set(withdrawal, await this.jobs.reserve(workOf(withdrawal)));
      },
      store: (manager, withdrawal) =>
        this.jobs.addFirst(manager, this.reserved.get(withdrawal) ?? 0, workOf(withdrawal)),
      stored: () => this.jobs.tryToMoveFromOutbox(),
    });
  }

  async run(job: Job): Promise<void> {
    const work = decodeJob<'WITHDRAWN_BUILD'>(job.payload);
    const { command, states } = OPERATIONS[work.running];
    const ids = await this.database.read((manager) => this.lists.ofBuild(manager, work, states, BATCH_SIZE));
    const failures: unknown[] = [];
    for (const id of ids) {
      // Instances that have ended or were held meanwhile do not change.
      await this.steps.tryTo(id, command, work.actor).catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) {
      throw failures[0];
    }
    await this.jobs.replace(job, this.next(work, ids.length > 0));
  }

  private next(work: WithdrawnBuildWork, hasMore: boolean): WithdrawnBuildWork | null {
    const now = this.jobs.now().getTime();
    if (hasMore) {
      return { ...work, at: now };
    }
    return now < work.until ? { ...work, at: work.until } : null;
  }
}

function workOf({ appId, buildId, running, actor, at }: Withdrawal): WithdrawnBuildWork | null {
  const begun = at.getTime();
  return running === RunningInstances.Continue
    ? null
    : { kind: 'WITHDRAWN_BUILD', appId, buildId, running, actor, at: begun, until: begun + RECHECK_MS };
}
