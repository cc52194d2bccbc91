import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { In, MoreThanOrEqual, type EntityManager, type UpdateQueryBuilder } from 'typeorm';
import { Database } from '../../store/database.js';
import { RuntimeJobEntity } from './runtime-job.entity.js';
import { dueJobs, oldestOf, shardsOf, takeJobs, type DueRequest, type JobPlace } from './job-claim.js';
import type { JobLane, ClaimedJob, Job } from '../model/job-queue.types.js';
import { DatabaseTime } from '../../store/tables/database-time.js';
import { inShard, ShardGroups } from '../../store/shards.js';
import { Table, type Changes } from '../../store/tables/table.js';
import { jobLimits } from '../job.limits.js';

const JOBS = new Table(RuntimeJobEntity, {});

/** How many times as many jobs as wanted are looked at, for others want the first ones too. */
const LOOK_AHEAD = 3;
const LEAST_SEEN = 10;
const CONTENDED_MS = 20;

/** One job that somebody wants to take. */
interface Wanted extends JobPlace {
  leaseMs: number;
  /** Of the taking, when it is the first of those that are taken together. */
  lease: string;
}

/** Who holds which job until when. Every change of a held job is fenced by its lease. */
@Injectable()
export class JobsRepository {
  private readonly nextDue = new Map<JobLane, number>();
  /** Of takings of which nobody knows whether they were stored, with their shards. */
  private readonly unsure = new Map<string, number[]>();
  private readonly takeTogether: (wanted: Wanted) => Promise<ClaimedJob | undefined>;

  constructor(
    private readonly database: Database,
    private readonly time: DatabaseTime,
    private readonly groups: ShardGroups,
  ) {
    this.takeTogether = database.sharedChange(
      (manager, wanted: readonly Wanted[]) => this.takeAll(manager, wanted),
      ({ lease }) => lease,
    );
  }

  /**
   * Takes due jobs and begins them: each is held for the time of its kind, and the attempt is counted. Of one group of shards at a
   * time, beginning with the one whose turn it is.
   * @param leaseMsOf how long a job of a kind is held, `leaseMs` by default
   * @returns at most `limit`, those first that were due first; none may also mean that others were faster
   */
  async claim(
    request: DueRequest,
    leaseMsOf: (kind: string) => number = () => jobLimits.leaseMs,
  ): Promise<ClaimedJob[]> {
    this.nextDue.delete(request.lane);
    for (const shards of this.groups.inTurn()) {
      const claimed = await this.claimIn(shards, request, leaseMsOf);
      if (claimed.length > 0) {
        return claimed;
      }
    }
    return [];
  }

  private async claimIn(
    shards: readonly number[],
    request: DueRequest,
    leaseMsOf: (kind: string) => number,
  ): Promise<ClaimedJob[]> {
    const { lane, limit } = request;
    const aheadMs = jobLimits.pollMs;
    const seen = { ...request, aheadMs, shards, limit: Math.max(limit * LOOK_AHEAD, LEAST_SEEN) };
    const jobs = await this.database.read((manager) => dueJobs(manager, this.time, seen));
    const due = jobs.filter(({ waitMs }) => waitMs <= 0);
    this.noteDue(lane, jobs[due.length]?.waitMs);
    for (let start = 0; start < due.length; start += limit) {
      const chunk = due.slice(start, start + limit);
      const taken = await Promise.all(chunk.map((job) => this.take(job, leaseMsOf(job.kind))));
      const got = taken.filter((job) => job !== undefined);
      if (got.length > 0) {
        return got;
      }
      // Others are at them just now.
      this.noteDue(lane, CONTENDED_MS);
    }
    return [];
  }

  private noteDue(lane: JobLane, waitMs = Number.POSITIVE_INFINITY): void {
    this.nextDue.set(lane, Math.min(waitMs, this.nextDueMs(lane)));
  }

  /** Milliseconds from the last look of `claim` until the next job is due, as far as it has looked ahead. */
  nextDueMs(lane: JobLane): number {
    return this.nextDue.get(lane) ?? Number.POSITIVE_INFINITY;
  }

  /**
   * Takes one job, if it is due, and begins it: holds it for `leaseMs` and counts the attempt. Those who ask at the same time share two
   * statements.
   * @returns undefined when it is gone, not due yet, or another worker has it
   */
  async take({ id, shard }: JobPlace, leaseMs: number): Promise<ClaimedJob | undefined> {
    return this.takeTogether({ id, shard, leaseMs, lease: randomUUID() });
  }

  /**
   * Lets go of what may have been taken by statements that got no answer, as if it had not been begun.
   * @throws when the database still cannot do it
   */
  async undoUnsure(): Promise<void> {
    for (const [lease, shards] of this.unsure) {
      const availableAt = this.time.value();
      const held = { lease, shard: In(shards) };
      await this.database.write((manager) =>
        JOBS.update(manager, held, { lease: null, attempts: () => 'attempts - 1', availableAt }),
      );
      this.unsure.delete(lease);
    }
  }

  /** Holds the job for `leaseMs` from now on. @returns false when it is gone or another worker has it */
  extend(job: Job, leaseMs: number): Promise<boolean> {
    return this.change([job], leaseMs, {});
  }

  /** Lets go of a job that did not fail and was not done either; it may be claimed again after `delayMs`. */
  putOff(job: Job, delayMs: number): Promise<boolean> {
    return this.change([job], delayMs, { lease: null });
  }

  /** Lets go of a job that failed, and counts that; it may be claimed again after `delayMs`. */
  putOffFailed(job: Job, delayMs: number): Promise<boolean> {
    return this.change([job], delayMs, { lease: null, failures: () => 'failures + 1' });
  }

  /**
   * Lets go of a job that our own database kept from its end, and counts that; it may be claimed again after `delayMs`. Where
   * another worker has it by now, it is counted all the same.
   * @param job whose `attempts` counts the run; one that was not begun is left as it is
   */
  async putOffInterrupted({ id, shard, lease, attempts }: Job, delayMs: number): Promise<void> {
    const availableAt = (): string => this.time.at(delayMs);
    await this.database.write(async (manager) => {
      const update = (): UpdateQueryBuilder<RuntimeJobEntity> =>
        manager.createQueryBuilder().update(RuntimeJobEntity);
      const begun = { id, attempts: MoreThanOrEqual(attempts), ...inShard(manager, shard) };
      const { affected } = await update()
        .set({ interruptions: oneMore, lease: null, availableAt })
        .where({ ...begun, lease })
        .execute();
      if (affected === 0) {
        await update().set({ interruptions: oneMore }).where(begun).execute();
      }
    });
  }

  /** Lets go of a job that was begun but cannot end now, as if it had not been begun; it may be claimed again after `delayMs`. */
  takeBack(job: Job, delayMs = 0): Promise<boolean> {
    return this.change([job], delayMs, { lease: null, attempts: () => 'attempts - 1' });
  }

  /** The same for jobs that were claimed and whose handlers were not called. */
  async giveBack(jobs: readonly Job[]): Promise<void> {
    for (const part of this.groups.parted(jobs)) {
      await this.change(part, 0, { lease: null, attempts: () => 'attempts - 1' });
    }
  }

  /**
   * The earliest time of a job of this lane of jobs that nobody works at; undefined when there is none.
   * @param of `dueAt`: when it was to be done, whether it waits for a worker or was put off. `availableAt`: since when it may be claimed
   */
  async oldest(of: 'dueAt' | 'availableAt', lane: JobLane): Promise<Date | undefined> {
    const found: Date[] = [];
    for (const shards of this.groups.inTurn()) {
      const one = await this.database.read((manager) => oldestOf(manager, this.time, of, lane, shards));
      found.push(...(one === undefined ? [] : [one]));
    }
    return found.toSorted((one, other) => one.getTime() - other.getTime())[0];
  }

  /** @param delayMs when they may be claimed, from now on */
  private async change(
    jobs: readonly Job[],
    delayMs: number,
    changes: Changes<RuntimeJobEntity>,
  ): Promise<boolean> {
    const [{ id, shard, lease } = { id: 0, shard: 0, lease: '' }] = jobs;
    const held =
      jobs.length === 1
        ? { id, shard, lease }
        : {
            id: In(jobs.map((job) => job.id)),
            shard: In(shardsOf(jobs)),
            lease: In([...new Set(jobs.map((job) => job.lease))]),
          };
    const availableAt = this.time.value(delayMs);
    const met = await this.database.writeTogether((transaction) => {
      transaction.join(this.groups.nameOf(shard));
      return JOBS.update(transaction, held, { ...changes, availableAt });
    });
    return met === jobs.length;
  }

  /** Takes those together that are held for the same time, and in one group of shards. */
  private async takeAll(
    manager: EntityManager,
    wanted: readonly Wanted[],
  ): Promise<(ClaimedJob | undefined)[]> {
    const taken = new Map<number, ClaimedJob>();
    for (const leaseMs of new Set(wanted.map((one) => one.leaseMs))) {
      for (const alike of this.groups.parted(wanted.filter((one) => one.leaseMs === leaseMs))) {
        for (const job of await this.takeAlike(manager, alike, leaseMs)) {
          taken.set(job.id, job);
        }
      }
    }
    // Of those who want the same job the last one has it.
    const last = new Map(wanted.map((one) => [one.id, one]));
    return wanted.map((one) => (last.get(one.id) === one ? taken.get(one.id) : undefined));
  }

  private async takeAlike(
    manager: EntityManager,
    alike: readonly Wanted[],
    leaseMs: number,
  ): Promise<ClaimedJob[]> {
    const taking = { lease: alike[0]?.lease ?? '', leaseMs, skipsLocked: !this.database.isEmbedded };
    const jobs = [...new Map(alike.map((one) => [one.id, one])).values()];
    // Counted from before the statement, so that we never think of the lease as longer than the database does.
    const claimedAt = performance.now();
    const rows = await takeJobs(manager, jobs, this.time, taking).catch((error: unknown) => {
      this.unsure.set(taking.lease, shardsOf(alike));
      throw error;
    });
    // The second time is the one that counts.
    this.unsure.delete(taking.lease);
    return rows.map((row) => ({ ...toJob(row), leaseMs, claimedAt }));
  }
}

function oneMore(): string {
  return 'interruptions + 1';
}

function toJob(row: RuntimeJobEntity): Job {
  const { id, shard, kind, payload, instanceId, tokenId, attempts, failures, interruptions, lease, dueAt } =
    row;
  const counts = { attempts, failures, interruptions };
  return { id, shard, kind, payload, instanceId, tokenId, ...counts, lease: lease ?? '', availableAt: dueAt };
}
