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

/** How many times more jobs are read than requested, because other replicas compete for the first ones. */
const LOOK_AHEAD = 3;
const LEAST_SEEN = 10;
const CONTENDED_MS = 20;

/** One job that a worker wants to claim. */
interface Wanted extends JobPlace {
  leaseMs: number;
  /** Used for all jobs of a joint claim if this one is its first. */
  lease: string;
}

/** Claims, renews and releases jobs. The lease fences every change of a held job. */
@Injectable()
export class JobsRepository {
  private readonly nextDue = new Map<JobLane, number>();
  /** Leases of claims that may or may not have been stored, with their shards. */
  private readonly uncertainClaims = new Map<string, number[]>();
  private readonly claimTogether: (wanted: Wanted) => Promise<ClaimedJob | undefined>;

  constructor(
    private readonly database: Database,
    private readonly time: DatabaseTime,
    private readonly groups: ShardGroups,
  ) {
    this.claimTogether = database.sharedChange(
      (manager, wanted: readonly Wanted[]) => this.claimAll(manager, wanted),
      ({ lease }) => lease,
    );
  }

  /**
   * Claims due jobs and counts the attempt. All come from one group of shards; groups take turns.
   * @param leaseMsOf returns the lease of a kind, `jobLimits.leaseMs` by default
   * @returns at most `limit` jobs, earliest first; may be empty because other workers were faster
   */
  async claim(
    request: DueRequest,
    leaseMsOf: (kind: string) => number = () => jobLimits.leaseMs,
  ): Promise<ClaimedJob[]> {
    this.nextDue.delete(request.lane);
    for (const shards of this.groups.rotated()) {
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
      // Other workers are claiming them now.
      this.noteDue(lane, CONTENDED_MS);
    }
    return [];
  }

  private noteDue(lane: JobLane, waitMs = Number.POSITIVE_INFINITY): void {
    this.nextDue.set(lane, Math.min(waitMs, this.nextDueMs(lane)));
  }

  /** Milliseconds from the last `claim` until the next job is due; infinite when none is due within `pollMs`. */
  nextDueMs(lane: JobLane): number {
    return this.nextDue.get(lane) ?? Number.POSITIVE_INFINITY;
  }

  /**
   * Claims one job for `leaseMs` if it is due, and counts the attempt. Concurrent calls share two statements.
   * @returns undefined when the job is gone, not due yet, or held by another worker
   */
  async take({ id, shard }: JobPlace, leaseMs: number): Promise<ClaimedJob | undefined> {
    return this.claimTogether({ id, shard, leaseMs, lease: randomUUID() });
  }

  /**
   * Reverts claims whose statements got no answer, as if they had never been made.
   * @throws when the database is still unavailable
   */
  async revertUncertainClaims(): Promise<void> {
    for (const [lease, shards] of this.uncertainClaims) {
      const availableAt = this.time.value();
      const held = { lease, shard: In(shards) };
      await this.database.write((manager) =>
        JOBS.update(manager, held, { lease: null, attempts: () => 'attempts - 1', availableAt }),
      );
      this.uncertainClaims.delete(lease);
    }
  }

  /** Renews a lease for `leaseMs` from now. @returns false when the job is gone or another worker has it */
  extend(job: Job, leaseMs: number): Promise<boolean> {
    return this.change([job], leaseMs, {});
  }

  /** Releases a job that neither failed nor completed. It can be claimed again after `delayMs`. */
  putOff(job: Job, delayMs: number): Promise<boolean> {
    return this.change([job], delayMs, { lease: null });
  }

  /** Releases a failed job and counts the failure. It can be claimed again after `delayMs`. */
  putOffFailed(job: Job, delayMs: number): Promise<boolean> {
    return this.change([job], delayMs, { lease: null, failures: () => 'failures + 1' });
  }

  /**
   * Releases a job that the service's own database interrupted, and counts the interruption even if another worker holds the job by
   * now. The job can be claimed again after `delayMs`.
   * @param job its `attempts` must include this run; nothing changes when the claim was never stored
   */
  async putOffInterrupted({ id, shard, lease, attempts }: Job, delayMs: number): Promise<void> {
    const availableAt = (): string => this.time.at(delayMs);
    await this.database.write(async (manager) => {
      const update = (): UpdateQueryBuilder<RuntimeJobEntity> =>
        manager.createQueryBuilder().update(RuntimeJobEntity);
      const begun = { id, attempts: MoreThanOrEqual(attempts), ...inShard(manager, shard) };
      const { affected } = await update()
        .set({ interruptions: incrementInterruptions, lease: null, availableAt })
        .where({ ...begun, lease })
        .execute();
      if (affected === 0) {
        await update().set({ interruptions: incrementInterruptions }).where(begun).execute();
      }
    });
  }

  /** Releases a job without counting the attempt. It can be claimed again after `delayMs`. */
  takeBack(job: Job, delayMs = 0): Promise<boolean> {
    return this.change([job], delayMs, { lease: null, attempts: () => 'attempts - 1' });
  }

  /** Releases claimed jobs whose handlers were not called, without counting the attempt. */
  async giveBack(jobs: readonly Job[]): Promise<void> {
    for (const part of this.groups.byGroup(jobs)) {
      await this.change(part, 0, { lease: null, attempts: () => 'attempts - 1' });
    }
  }

  /**
   * Returns the earliest time of a job in a lane that no worker holds; undefined when there is none.
   * @param of see `oldestOf`
   */
  async oldest(of: 'dueAt' | 'availableAt', lane: JobLane): Promise<Date | undefined> {
    const found: Date[] = [];
    for (const shards of this.groups.rotated()) {
      const one = await this.database.read((manager) => oldestOf(manager, this.time, of, lane, shards));
      found.push(...(one === undefined ? [] : [one]));
    }
    return found.toSorted((one, other) => one.getTime() - other.getTime())[0];
  }

  /** Changes held jobs of one group of shards. @param delayMs milliseconds until they can be claimed */
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
      transaction.requireShardGroup(this.groups.nameOf(shard));
      return JOBS.update(transaction, held, { ...changes, availableAt });
    });
    return met === jobs.length;
  }

  /** Claims jobs with the same lease time and group of shards together. */
  private async claimAll(
    manager: EntityManager,
    wanted: readonly Wanted[],
  ): Promise<(ClaimedJob | undefined)[]> {
    const taken = new Map<number, ClaimedJob>();
    for (const leaseMs of new Set(wanted.map((one) => one.leaseMs))) {
      for (const alike of this.groups.byGroup(wanted.filter((one) => one.leaseMs === leaseMs))) {
        for (const job of await this.claimAlike(manager, alike, leaseMs)) {
          taken.set(job.id, job);
        }
      }
    }
    // The last of several requests for the same job gets it.
    const last = new Map(wanted.map((one) => [one.id, one]));
    return wanted.map((one) => (last.get(one.id) === one ? taken.get(one.id) : undefined));
  }

  private async claimAlike(
    manager: EntityManager,
    alike: readonly Wanted[],
    leaseMs: number,
  ): Promise<ClaimedJob[]> {
    const taking = { lease: alike[0]?.lease ?? '', leaseMs, skipsLocked: !this.database.isEmbedded };
    const jobs = [...new Map(alike.map((one) => [one.id, one])).values()];
    // Measured before the statement, so that the lease never seems longer here than in the database.
    const claimedAt = performance.now();
    const rows = await takeJobs(manager, jobs, this.time, taking).catch((error: unknown) => {
      this.uncertainClaims.set(taking.lease, shardsOf(alike));
      throw error;
    });
    // A repetition after a lost connection has succeeded, so the outcome is known.
    this.uncertainClaims.delete(taking.lease);
    return rows.map((row) => ({ ...toJob(row), leaseMs, claimedAt }));
  }
}

function incrementInterruptions(): string {
  return 'interruptions + 1';
}

function toJob(row: RuntimeJobEntity): Job {
  const { id, shard, kind, payload, instanceId, tokenId, attempts, failures, interruptions, lease, dueAt } =
    row;
  const counts = { attempts, failures, interruptions };
  return { id, shard, kind, payload, instanceId, tokenId, ...counts, lease: lease ?? '', availableAt: dueAt };
}
