import { Injectable } from '@nestjs/common';
import type { SqlExecutor } from '../../store/groups/shared-transaction.js';
import { Clock } from '../../platform/clock.js';
import { afterCommit } from '../../store/groups/write-progress.js';
import { SHARDS, shardOf } from '../../store/shards.js';
import { OpenJobs, shardOfKey } from '../storage/open-jobs.repository.js';
import type { RuntimeJobEntity } from '../storage/runtime-job.entity.js';
import { withTrace } from '../model/job-trace.js';
import { JobHandlersService } from './job-handlers.service.js';
import { JobSignal } from './job-signal.js';
import type { Job, NewJob } from '../model/job-queue.types.js';
import { InvalidJobError, LeaseLostError } from './jobs.errors.js';
import { jobLimits } from '../job.limits.js';

const KIND_MAX_LENGTH = 32;
const DEDUPE_KEY_MAX_LENGTH = 128;

/**
 * Queue of durable background jobs. All writes belong to the caller's transaction: a job exists only if the transaction that adds it
 * commits, and is deleted together with storing its effect. A job runs at least once; its effect on the service's own state is
 * stored exactly once.
 */
@Injectable()
export class JobQueueService {
  private readonly completed = new WeakSet<Job>();
  private isWaking = false;

  constructor(
    private readonly clock: Clock,
    private readonly handlers: JobHandlersService,
    private readonly signal: JobSignal,
  ) {}

  /**
   * Adds jobs, skipping those whose dedupe key exists, and wakes the workers after the commit.
   * @param jobs with ids from `IdBlocks`, name `job`
   * @throws InvalidJobError when a kind, key or payload is too long
   */
  async add(executor: SqlExecutor, jobs: (NewJob & { id: number })[]): Promise<void> {
    const createdAt = this.clock.now();
    const [keyed, others] = [true, false].map((isKeyed) =>
      jobs
        .filter(({ dedupeKey }) => (dedupeKey !== undefined) === isKeyed)
        .map((job) => this.toRow(job, createdAt)),
    );
    await OpenJobs.insert(executor, others ?? []);
    // Only inserts with a dedupe key may skip duplicates: a duplicate primary key must be an error.
    await OpenJobs.insert(executor, keyed ?? [], true);
    afterCommit(executor, () => this.wake());
  }

  /**
   * Deletes a job in the transaction that stores its effect. Call it before cancelling other jobs of the same owner, or the
   * transaction would cancel this job.
   * @throws LeaseLostError when the job was cancelled or another worker has it; the transaction must then roll back
   */
  async complete(executor: SqlExecutor, job: Job): Promise<void> {
    if (!(await OpenJobs.deleteHeld(executor, job))) {
      throw new LeaseLostError();
    }
    this.completed.add(job);
  }

  /**
   * Locks a job against completion and cancellation until the transaction ends.
   * @throws LeaseLostError when the job was cancelled or another worker has it
   */
  async hold(executor: SqlExecutor, job: Job): Promise<void> {
    if (!(await OpenJobs.lockHeld(executor, job))) {
      throw new LeaseLostError();
    }
  }

  /** Returns whether `complete` was called with this object. The transaction may still have failed. */
  isCompleted(job: Job): boolean {
    return this.completed.has(job);
  }

  /**
   * Deletes the jobs of some tokens. Running ones can no longer store anything.
   * @param kinds only jobs of these kinds
   */
  async cancelOfToken(
    executor: SqlExecutor,
    instanceId: number,
    tokenIds: number[],
    kinds?: string[],
  ): Promise<void> {
    await OpenJobs.deleteOfTokens(executor, instanceId, tokenIds, kinds);
  }

  /** Finds the jobs of one kind that belong to an instance, including running ones. */
  async ofInstance(
    executor: SqlExecutor,
    instanceId: number,
    kind: string,
  ): Promise<Pick<Job, 'id' | 'payload'>[]> {
    return OpenJobs.ofInstance(executor, instanceId, kind);
  }

  /** Counts the open jobs of a process family, including running ones, up to `most`. */
  async countOfFamily(executor: SqlExecutor, familyId: number, most: number): Promise<number> {
    return OpenJobs.countOfFamily(executor, familyId, most);
  }

  /** Deletes jobs of an instance by id. Running ones can no longer store anything. */
  async cancel(executor: SqlExecutor, instanceId: number, ids: number[]): Promise<void> {
    await OpenJobs.delete(executor, instanceId, ids);
  }

  /**
   * Deletes jobs by dedupe key. Running ones can no longer store anything.
   * @param shard shard to which they were added; by default that of jobs without an owner
   */
  async cancelKeys(executor: SqlExecutor, dedupeKeys: string[], shard?: number): Promise<void> {
    await OpenJobs.deleteKeys(executor, dedupeKeys, shard);
  }

  /** Wakes the workers of this replica, once for all calls in one turn of the event loop. `add` does so after its commit. */
  wake(): void {
    if (!this.isWaking) {
      this.isWaking = true;
      setImmediate(() => {
        this.isWaking = false;
        this.signal.wake();
      });
    }
  }

  private toRow(job: NewJob & { id: number }, createdAt: Date): RuntimeJobEntity {
    this.check(job);
    return {
      id: job.id,
      shard: placeOf(job),
      lane: this.handlers.lane(job.kind),
      kind: job.kind,
      dueAt: job.availableAt,
      availableAt: job.availableAt,
      attempts: 0,
      failures: 0,
      interruptions: 0,
      lease: null,
      instanceId: job.instanceId ?? null,
      tokenId: job.tokenId ?? null,
      familyId: job.familyId ?? null,
      dedupeKey: job.dedupeKey ?? null,
      payload: withTrace(job, createdAt),
      createdAt,
    };
  }

  // Needed because an insert that skips duplicates truncates values that are too long.
  private check({ kind, dedupeKey, payload }: NewJob): void {
    if (kind === '' || kind.length > KIND_MAX_LENGTH) {
      throw new InvalidJobError(`The kind of a job must have 1 to ${KIND_MAX_LENGTH} characters.`);
    }
    if (dedupeKey !== undefined && (dedupeKey === '' || dedupeKey.length > DEDUPE_KEY_MAX_LENGTH)) {
      throw new InvalidJobError(
        `The dedupe key of a job must have 1 to ${DEDUPE_KEY_MAX_LENGTH} characters.`,
      );
    }
    if (Buffer.byteLength(JSON.stringify(payload)) > jobLimits.maxPayloadBytes) {
      throw new InvalidJobError(`The payload of a job has more than ${jobLimits.maxPayloadBytes} bytes.`);
    }
  }
}

/** Returns the shard of a new job. Equal dedupe keys share a shard, so that the unique index can compare them. */
function placeOf({ id, shard, instanceId, dedupeKey }: NewJob & { id: number }): number {
  if (shard !== undefined) {
    return shard;
  }
  if (instanceId !== undefined) {
    return shardOf(instanceId);
  }
  return dedupeKey === undefined ? id % SHARDS : shardOfKey(dedupeKey);
}
