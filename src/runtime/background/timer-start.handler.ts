import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { parseCycle, parseDateTime } from '#engine/support';
import { IdBlocks } from '../../store/ids/id-blocks.js';
import { ActiveBuildsService } from '../../delivery/builds/active/active-builds.service.js';
import type { ActivatedBuild, BuildDefinition } from '../../delivery/builds/model/builds.types.js';
import type { TimerDefinition } from '#engine/definitions';
import { cycleOccurrence, EngineRefusal } from '#engine/tokens';
import {
  type RunnableDefinition,
  RunnableDefinitionsService,
} from '../definitions/runnable-definitions.service.js';
import { limitedTime, type RuntimeJob, decodeJob } from '../steps/runtime-job.js';
import { postponedIfQuotaExceeded, ScheduledJobs } from './scheduled-jobs.js';
import { BuildDefinitionsService } from '../../delivery/builds/contents/build-definitions.service.js';
import type { Job, JobHandler } from '../../jobs/model/job-queue.types.js';
import { NO_CALLER, ProcessStarter, type StartRequest } from '../steps/process-starter.js';

type Work = Extract<RuntimeJob, { kind: 'TIMER_START' }>;

/** Minimum time between two starts of one timer. */
const SHORTEST_MS = 1_000;

/**
 * Schedules the timer start events of a build when it becomes active (BPMN 2.0.2, 10.5.2), starts their processes and schedules the next
 * start. Never given up, because a technical failure must not end a schedule.
 */
@Injectable()
export class TimerStartHandler implements JobHandler, OnModuleInit {
  readonly kind = 'TIMER_START';
  private readonly reserved = new WeakMap<ActivatedBuild, number>();

  constructor(
    private readonly activations: ActiveBuildsService,
    private readonly builds: BuildDefinitionsService,
    private readonly definitions: RunnableDefinitionsService,
    private readonly starter: ProcessStarter,
    private readonly jobs: ScheduledJobs,
    private readonly ids: IdBlocks,
  ) {}

  onModuleInit(): void {
    this.activations.onActivated({
      prepare: (build) => this.reserve(build),
      store: (manager, build) => this.set(manager, build),
      stored: () => this.jobs.tryToMoveFromOutbox(),
    });
  }

  async run(job: Job): Promise<void> {
    const work = decodeJob<'TIMER_START'>(job.payload);
    const definition = await this.definitions.byId(work.definitionId);
    const active = await this.builds.activeBuild(definition.build.appId);
    if (active?.buildId !== definition.build.buildId || work.anchor < active.activatedAt.getTime()) {
      // Another build is active, or this one was activated again: each activation schedules timers of its own.
      await this.jobs.replace(job, null);
      return;
    }
    const next = this.after(definition, work);
    try {
      await this.start(job, definition, work, next);
    } catch (error) {
      if (!(error instanceof EngineRefusal)) {
        throw postponedIfQuotaExceeded(error);
      }
      // The data is too large at the start. The schedule continues.
      await this.jobs.replace(job, next);
    }
  }

  /** Starts the process. One that stops at once is stored with its incident, and the schedule continues. */
  private async start(
    job: Job,
    definition: RunnableDefinition,
    { node }: Work,
    next: Work | null,
  ): Promise<void> {
    const id = await this.jobs.reserve(next);
    const request: StartRequest = {
      definition,
      startNode: node,
      data: {},
      shard: job.shard,
      rootAppId: definition.build.rootApplicationId,
      job,
      ...NO_CALLER,
    };
    await this.starter.start(request, (transaction) => this.jobs.add(transaction, id, next, job.shard));
  }

  /** Returns the next start after now. Missed starts are skipped. */
  private after({ build }: RunnableDefinition, work: Work): Work | null {
    const timer = timerOf(build, work.node);
    return timer?.type === 'CYCLE' ? this.nextOf(timer, work) : null;
  }

  private async reserve(build: ActivatedBuild): Promise<void> {
    const count = timersOf(build).length;
    if (count > 0) {
      this.reserved.set(build, await this.ids.next('job', count));
    }
  }

  private async set(manager: EntityManager, build: ActivatedBuild): Promise<void> {
    const first = this.reserved.get(build) ?? 0;
    const now = build.activatedAt.getTime();
    for (const [index, { definition, node, timer }] of timersOf(build).entries()) {
      const series = { kind: 'TIMER_START', definitionId: definition.id, node, anchor: now } as const;
      const work = this.firstOf(timer, { ...series, occurrence: 0, at: now });
      await this.jobs.addFirst(manager, first + index, work);
    }
  }

  private firstOf(timer: TimerDefinition, work: Work): Work | null {
    if (timer.type !== 'DATE') {
      return this.nextOf(timer, work);
    }
    const at = parseDateTime(timer.expression);
    // A date in the past was meant for an earlier build.
    return at === undefined || at < work.anchor ? null : { ...work, occurrence: 1, at };
  }

  private nextOf({ expression }: TimerDefinition, work: Work): Work | null {
    const cycle = parseCycle(expression);
    if (cycle === undefined) {
      return null;
    }
    const now = this.jobs.now().getTime();
    const due = (occurrence: number): number => cycleOccurrence(cycle, work.anchor, occurrence) ?? Infinity;
    const occurrence = firstAfter(now, work.occurrence + 1, due);
    const at = due(occurrence);
    return at === Infinity
      ? null
      : { ...work, occurrence, at: limitedTime(new Date(Math.max(at, now + SHORTEST_MS))).getTime() };
  }
}

/** Returns the smallest number from `from` on whose time is after `now`. Times must grow with their numbers. */
function firstAfter(now: number, from: number, due: (occurrence: number) => number): number {
  let [low, high] = [from, from];
  for (let width = 1; due(high) <= now; width *= 2) {
    [low, high] = [high + 1, high + width];
  }
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    [low, high] = due(middle) > now ? [low, middle] : [middle + 1, high];
  }
  return high;
}

function timersOf({
  definitions,
}: ActivatedBuild): { definition: BuildDefinition; node: number; timer: TimerDefinition }[] {
  return definitions.flatMap((definition) =>
    definition.graph.starts.flatMap((node) => {
      const timer = timerOf(definition, node);
      return timer === undefined ? [] : [{ definition, node, timer }];
    }),
  );
}

function timerOf({ graph }: BuildDefinition, node: number): TimerDefinition | undefined {
  const event = graph.nodes[node]?.event;
  return event?.type === 'TIMER' ? event.timer : undefined;
}
