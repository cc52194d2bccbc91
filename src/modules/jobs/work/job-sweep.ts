import { Injectable } from '@nestjs/common';
import { Log } from '../../../common/logging/log.js';
import { Clock } from '../../../common/clock.js';
import { Env } from '../../../config/env.js';
import { codeOf } from '../../../config/start.error.js';
import type { JobBroker, QueuedJob } from '../broker/job-broker.js';
import { JobRelay } from '../broker/job-relay.js';
import { JOB_LANES, type JobLane } from '../model/job-lane.js';
import { JobHandlersService } from '../queue/job-handlers.service.js';
import type { FoundJob, PlaceInTime } from '../storage/job-claim.js';
import { JobsRepository } from '../storage/jobs.repository.js';

const PAGE = 500;
/** The horizon moves in steps, so that not every look reads what comes near. */
const STEPS = 10;
/** Part of the pause between two looks during which the turn is taken, so that the next look finds it free. */
const TURN = 0.9;

/** No statement asks for more than a lane of jobs of one group of shards. */
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
  private isStopping = false;

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

  /** Waits for the page that is being handed over, and for no further one. */
  async stop(): Promise<void> {
    this.isStopping = true;
    clearInterval(this.timer);
    await this.under;
  }

  private get turnMs(): number {
    return Math.ceil(this.env.get('JOBS_SWEEP_MS') * TURN);
  }

  private async sweep(): Promise<void> {
    const { relay, env } = this;
    const { broker } = relay;
    if (broker === undefined || !broker.isReady) {
      return;
    }
    if (!(await broker.takesTurn(this.turnMs))) {
      return;
    }
    const now = this.clock.now().getTime();
    const seen = await broker.horizon();
    const aheadMs = env.get('JOBS_AHEAD_MS');
    if (now + aheadMs - seen.at > aheadMs / STEPS) {
      await this.handOverAll(broker, seen.at, now + aheadMs);
      if (this.isStopping) {
        return;
      }
      await broker.moveHorizon(seen, now + aheadMs);
    }
    await this.handOverLate(broker, now - env.get('JOBS_SWEEP_MS'));
  }

  /** @throws when Redis did not take all of them */
  private async handOverAll(broker: JobBroker, from: number, until: number): Promise<void> {
    for (const part of this.parts()) {
      await this.eachPage(part, { from, until }, async (page) => {
        await broker.handOver(page);
        await broker.keepTurn(this.turnMs);
        return true;
      });
    }
  }

  /** Goes on for as long as Redis does not know a job: what waits behind those that it knows is found when they are done. */
  private async handOverLate(broker: JobBroker, until: number): Promise<void> {
    // Jobs of another release would stand before all others for ever.
    const { kinds } = this.handlers;
    for (const part of kinds.length === 0 ? [] : this.parts()) {
      await this.eachPage(part, { from: 0, until, kinds }, async (page) => {
        const isKnown = await broker.knows(part.lane, page);
        if (!isKnown) {
          await broker.handOver(page);
          await broker.keepTurn(this.turnMs);
        }
        return !isKnown;
      });
    }
  }

  /** @param use whether to go on */
  private async eachPage(
    { lane, shards }: Part,
    { from, until, kinds }: { from: number; until: number; kinds?: string[] },
    use: (page: QueuedJob[]) => Promise<boolean>,
  ): Promise<void> {
    const range = { until: new Date(until), limit: PAGE, shards, ...(kinds === undefined ? {} : { kinds }) };
    let after: PlaceInTime | undefined = { availableAt: new Date(from), id: 0 };
    while (after !== undefined && !this.isStopping) {
      const rows: FoundJob[] = await this.jobs.from(lane, { after, ...range });
      const goesOn = rows.length > 0 && (await use(rows.map((row) => this.toQueued(lane, row))));
      after = goesOn && rows.length === PAGE ? rows.at(-1) : undefined;
    }
  }

  private parts(): Part[] {
    return JOB_LANES.flatMap((lane) => this.jobs.shardsInTurn.map((shards) => ({ lane, shards })));
  }

  private toQueued(lane: JobLane, { id, shard, kind, availableAt }: FoundJob): QueuedJob {
    const priority = this.handlers.find(kind)?.priority;
    const dueAt = availableAt.getTime();
    return { id, shard, kind, lane, dueAt, ...(priority === undefined ? {} : { priority }) };
  }
}
