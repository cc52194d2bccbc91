import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { In, MoreThanOrEqual, type EntityManager, type UpdateQueryBuilder } from 'typeorm';
import { Env } from '../../../config/env.js';
import { Database } from '../../../database/database.js';
import { RuntimeJobEntity } from './runtime-job.entity.js';
import { dueJobs, knowsSkipLocked, lockSkippingLocked, takeJobs, type DueRequest } from './job-claim.js';
import type { JobLane } from '../model/job-lane.js';
import type { Job } from '../model/job-queue.types.js';
import { DatabaseTime } from '../../../database/database-time.js';
import { Table, type Changes } from '../../../database/table.js';

const JOBS = new Table(RuntimeJobEntity);

/** How many times as many jobs as wanted are looked at, for others want the first ones too. */
const LOOK_AHEAD = 3;
const LEAST_SEEN = 10;

/** Who holds which job until when. Every change of a held job is fenced by its lease. */
@Injectable()
export class JobsRepository {
  /** Whether claimers pass over rows that others hold, instead of waiting for each other. Unknown before the first claim. */
  private skipsLocked: boolean | undefined;

  constructor(
    private readonly database: Database,
    private readonly time: DatabaseTime,
    private readonly env: Env,
  ) {}

  /**
   * Takes due jobs for JOBS_LEASE_MS; when that time is over, others may take them.
   * @returns at most `limit`, those first that were due first; none may also mean that others were faster
   */
  async claim(request: DueRequest): Promise<Job[]> {
    const { limit } = request;
    const seen = { ...request, limit: Math.max(limit * LOOK_AHEAD, LEAST_SEEN) };
    const due = await this.database.read((manager) => dueJobs(manager, seen, this.time.now()));
    if (due.length === 0) {
      return [];
    }
    this.skipsLocked ??= !this.database.isEmbedded && (await this.database.write(knowsSkipLocked));
    const rows = await this.database.write(async (manager) => {
      for (let start = 0; start < due.length; start += limit) {
        const taken = await this.take(manager, due.slice(start, start + limit));
        if (taken.length > 0) {
          return taken;
        }
      }
      return [];
    });
    return rows.map(toJob).toSorted(byDueTime);
  }

  /**
   * Counts an attempt and holds the job from now on for `leaseMs`.
   * @returns false when the job was cancelled or another worker has it
   */
  begin(job: Job, leaseMs: number): Promise<boolean> {
    return this.change([job], leaseMs, { attempts: () => 'attempts + 1' });
  }

  /**
   * Holds the job from now on for `leaseMs`.
   * @returns false when the job was cancelled or another worker has it
   */
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
  async putOffInterrupted({ id, lease, attempts }: Job, delayMs: number): Promise<void> {
    const { sql, parameters } = this.time.later(delayMs);
    await this.database.write(async (manager) => {
      const update = (): UpdateQueryBuilder<RuntimeJobEntity> =>
        manager.createQueryBuilder().update(RuntimeJobEntity);
      const begun = { id, attempts: MoreThanOrEqual(attempts) };
      const { affected } = await update()
        .set({ interruptions: oneMore, lease: null, availableAt: () => sql })
        .where({ ...begun, lease })
        .setParameters(parameters)
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

  /** Lets go of jobs that were claimed but not begun. */
  async giveBack(jobs: Job[]): Promise<void> {
    if (jobs.length > 0) {
      await this.change(jobs, 0, { lease: null });
    }
  }

  /**
   * When the oldest job of this lane of jobs was to be done that nobody works at, whether it waits for a worker or was put off;
   * undefined when there is none.
   */
  async oldestDue(lane: JobLane): Promise<Date | undefined> {
    const now = this.time.now();
    const row = await this.database.read((manager) =>
      manager
        .createQueryBuilder(RuntimeJobEntity, 'job')
        .select(['job.id', 'job.dueAt'])
        .where({ lane })
        .andWhere(`job.due_at <= ${now.sql}`, now.parameters)
        .andWhere(`(job.lease IS NULL OR job.available_at <= ${now.sql})`)
        .orderBy('job.dueAt')
        .limit(1)
        .getOne(),
    );
    return row?.dueAt;
  }

  /** @param delayMs when they may be claimed, from now on */
  private async change(
    jobs: readonly Job[],
    delayMs: number,
    changes: Changes<RuntimeJobEntity>,
  ): Promise<boolean> {
    const [{ id, lease } = { id: 0, lease: '' }] = jobs;
    const held =
      jobs.length === 1
        ? { id, lease }
        : { id: In(jobs.map((job) => job.id)), lease: In([...new Set(jobs.map((job) => job.lease))]) };
    const availableAt = this.time.laterValue(delayMs);
    const met = await this.database.writeTogether((manager) =>
      JOBS.update(manager, held, { ...changes, availableAt }),
    );
    return met === jobs.length;
  }

  private async take(manager: EntityManager, ids: number[]): Promise<RuntimeJobEntity[]> {
    const free = this.skipsLocked === true ? await lockSkippingLocked(manager, ids) : ids;
    const lease = randomUUID();
    const times = { now: this.time.now(), until: this.time.later(this.env.get('JOBS_LEASE_MS')) };
    return free.length > 0 && (await takeJobs(manager, free, lease, times)) > 0
      ? manager.findBy(RuntimeJobEntity, { lease })
      : [];
  }
}

function oneMore(): string {
  return 'interruptions + 1';
}

function byDueTime(one: Job, other: Job): number {
  return one.availableAt.getTime() - other.availableAt.getTime() || one.id - other.id;
}

function toJob(row: RuntimeJobEntity): Job {
  const { id, kind, payload, instanceId, tokenId, attempts, failures, interruptions, lease, dueAt } = row;
  const counts = { attempts, failures, interruptions };
  return { id, kind, payload, instanceId, tokenId, ...counts, lease: lease ?? '', availableAt: dueAt };
}
