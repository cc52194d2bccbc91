import { Injectable } from '@nestjs/common';
import { Log } from '../../../common/logging/log.js';
import { Clock } from '../../../common/clock.js';
import { Env } from '../../../config/env.js';
import { codeOf } from '../../../config/start.error.js';
import type { QueuedJob } from '../broker/job-broker.js';
import { JobRelay } from '../broker/job-relay.js';
import { JOB_LANES, type JobLane } from '../model/job-lane.js';
import { JobHandlersService } from '../queue/job-handlers.service.js';
import type { PlaceInTime } from '../storage/job-claim.js';
import { JobsRepository } from '../storage/jobs.repository.js';

const PAGE = 500;
/** The horizon moves in steps, so that not every look reads what comes near. */
const STEPS = 10;
/** Part of the pause between two looks during which the turn is taken, so that the next look finds it free. */
const TURN = 0.9;

interface Part {
  lane: JobLane;
  shards: readonly number[];
}

/**
 * Finds stored jobs that Redis does not know, and hands them over. These are jobs that come near, jobs that were due and that nobody has
 * taken, and all of them when Redis was emptied or was away. One replica looks for all.
 */
@Injectable()
export class JobSweep {
  private timer: NodeJS.Timeout | undefined;
  private under: Promise<void> | undefined;

  constructor(
    private readonly relay: JobRelay,
    private readonly jobs: JobsRepository,
    private readonly handlers: JobHandlersService,
    private readonly env: Env,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  start(): void {
    const look = (): void => {
      this.under ??= this.sweep()
        .catch((error: unknown) => this.log.warn('sweep of jobs failed', { errorCode: codeOf(error) }))
        .finally(() => {
          this.under = undefined;
        });
    };
    this.timer = setInterval(look, this.env.get('JOBS_SWEEP_MS'));
    look();
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.under;
  }

  private async sweep(): Promise<void> {
    const { relay, env } = this;
    const { broker } = relay;
    if (broker === undefined || !broker.isReady) {
      return;
    }
    if (relay.hasMissed) {
      await broker.setHorizon(0);
      relay.hasMissed = false;
    }
    const everyMs = env.get('JOBS_SWEEP_MS');
    if (!(await broker.takesTurn(Math.ceil(everyMs * TURN)))) {
      return;
    }
    const now = this.clock.now().getTime();
    const from = (await broker.horizon()) ?? 0;
    const aheadMs = env.get('JOBS_AHEAD_MS');
    if (now + aheadMs - from > aheadMs / STEPS) {
      if (await this.handOverAll({ from, until: now + aheadMs })) {
        await broker.setHorizon(now + aheadMs);
      }
    }
    await this.handOverLate(now - everyMs);
  }

  /** @returns whether Redis took all of them */
  private async handOverAll({ from, until }: { from: number; until: number }): Promise<boolean> {
    for (const part of this.parts()) {
      let after: PlaceInTime | undefined = { availableAt: new Date(from), id: 0 };
      while (after !== undefined) {
        const page: PlaceInTime[] | undefined = await this.handOver(part, after, until);
        if (page === undefined) {
          return false;
        }
        after = page.length < PAGE ? undefined : page.at(-1);
      }
    }
    return true;
  }

  private async handOverLate(until: number): Promise<void> {
    for (const part of this.parts()) {
      await this.handOver(part, { availableAt: new Date(0), id: 0 }, until);
    }
  }

  /** No statement asks for more than a lane of jobs of one group of shards. */
  private parts(): Part[] {
    return JOB_LANES.flatMap((lane) => this.jobs.shardsInTurn.map((shards) => ({ lane, shards })));
  }

  /** @returns undefined when Redis did not take them */
  private async handOver(
    { lane, shards }: Part,
    after: PlaceInTime,
    until: number,
  ): Promise<PlaceInTime[] | undefined> {
    const { jobs, relay, handlers } = this;
    const rows = await jobs.from(lane, { after, until: new Date(until), limit: PAGE, shards });
    const queued = rows.map(({ id, shard, kind, availableAt }): QueuedJob => {
      const priority = handlers.find(kind)?.priority;
      return {
        id,
        shard,
        kind,
        lane,
        dueAt: availableAt.getTime(),
        ...(priority === undefined ? {} : { priority }),
      };
    });
    return queued.length === 0 || (await relay.broker?.handOver(queued)) === true ? rows : undefined;
  }
}
