import { Injectable } from '@nestjs/common';
import { BuildDefinitionsService } from '../../builds/contents/build-definitions.service.js';
import type { Job, JobHandler } from '../../jobs/model/job-queue.types.js';
import { EngineRefusal } from '../engine/state/engine.errors.js';
import { RunnableDefinitionsService } from '../definitions/runnable-definitions.service.js';
import type { RunnableDefinition } from '../definitions/runnable-definition.js';
import { ProcessStarter } from '../steps/process-starter.js';
import { decodeJob, type RuntimeJob } from '../steps/runtime-job.js';
import { laterIfRefused } from './refused-starts.js';
import { ScheduledJobs } from './scheduled-jobs.js';
import { TimerStarts } from './timer-starts.js';

type Work = Extract<RuntimeJob, { kind: 'TIMER_START' }>;

/** Starts a process by the clock, and sets the next time. Never given up: a schedule must not end for a fault of the surroundings. */
@Injectable()
export class TimerStartHandler implements JobHandler {
  readonly kind = 'TIMER_START';

  constructor(
    private readonly builds: BuildDefinitionsService,
    private readonly definitions: RunnableDefinitionsService,
    private readonly starter: ProcessStarter,
    private readonly timers: TimerStarts,
    private readonly jobs: ScheduledJobs,
  ) {}

  async run(job: Job): Promise<void> {
    const work = decodeJob<'TIMER_START'>(job.payload);
    const definition = await this.definitions.byId(work.definitionId);
    const active = await this.builds.activeBuild(definition.build.appId);
    if (active?.buildId !== definition.build.buildId || work.anchor < active.activatedAt.getTime()) {
      // Another build is active, or this one is again since then: each activation has set timers of its own.
      await this.jobs.replace(job, null);
      return;
    }
    const next = this.timers.after(definition, work);
    try {
      await this.start(job, definition, work, next);
    } catch (error) {
      if (!(error instanceof EngineRefusal)) {
        throw laterIfRefused(error);
      }
      // Its data are too large already at the start: then the schedule goes on too.
      await this.jobs.replace(job, next);
    }
  }

  /** A process that stops at once is kept with its incident, and the schedule goes on. */
  private async start(
    job: Job,
    definition: RunnableDefinition,
    { node }: Work,
    next: Work | null,
  ): Promise<void> {
    const id = await this.jobs.reserve(next);
    await this.starter.start(
      {
        definition,
        startNode: node,
        data: {},
        platform: null,
        starter: null,
        startedBy: null,
        parent: null,
        shard: job.shard,
        rootAppId: definition.build.rootApplicationId,
        depth: 0,
      },
      {
        job,
        begin: (manager) => this.jobs.add(manager, id, next, job.shard),
        stopped: (manager) => this.jobs.replaceIn(manager, job, id, next),
      },
    );
  }
}
