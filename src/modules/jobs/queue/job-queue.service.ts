import { Injectable } from '@nestjs/common';
import { In, type EntityManager } from 'typeorm';
import { Clock } from '../../../common/clock.js';
import { jsonSize } from '../../../common/json.js';
import { Env } from '../../../config/env.js';
import { statementBatches } from '../../../database/statement-batches.js';
import { RuntimeJobEntity } from '../storage/runtime-job.entity.js';
import { JobHandlersService } from './job-handlers.service.js';
import { JobSignal } from './job-signal.js';
import type { Job, NewJob } from '../model/job-queue.types.js';
import { InvalidJobError, LeaseLostError } from './jobs.errors.js';

const SHARDS = 256;
const KIND_MAX_LENGTH = 32;
const DEDUPE_KEY_MAX_LENGTH = 128;

/**
 * Durable background jobs. Whatever is done here belongs to the caller's transaction: a job exists if and only if that
 * transaction was committed, and the effect of a job is stored if and only if the job is gone. A job is run at least
 * once, its effect on our own state is stored exactly once.
 */
@Injectable()
export class JobQueueService {
  private readonly completed = new WeakSet<Job>();

  constructor(
    private readonly env: Env,
    private readonly clock: Clock,
    private readonly handlers: JobHandlersService,
    private readonly signal: JobSignal,
  ) {}

  /**
   * Adds jobs, with few statements. One whose dedupe key is taken is left out. Call `wake` after the commit.
   * @param jobs with ids out of `IdBlocks`, name `job`
   * @throws InvalidJobError when a kind, key or payload is too long
   */
  async add(manager: EntityManager, jobs: (NewJob & { id: number })[]): Promise<void> {
    const createdAt = this.clock.now();
    const [keyed, others] = [true, false].map((isKeyed) =>
      jobs
        .filter(({ dedupeKey }) => (dedupeKey !== undefined) === isKeyed)
        .map((job) => this.toRow(job, createdAt)),
    );
    await insertRows(manager, others ?? [], false);
    await insertRows(manager, keyed ?? [], true);
  }

  /**
   * Deletes a job in the transaction that stores its effect. A transaction that also cancels jobs of the same owner
   * must complete first, or it would cancel the job it is part of.
   * @throws LeaseLostError when it was cancelled or another worker has it; the transaction must then not be committed
   */
  async complete(manager: EntityManager, job: Job): Promise<void> {
    const { affected } = await manager.delete(RuntimeJobEntity, { id: job.id, lease: job.lease });
    if (affected !== 1) {
      throw new LeaseLostError();
    }
    this.completed.add(job);
  }

  /**
   * Keeps a job from being completed or cancelled until the transaction ends.
   * @throws LeaseLostError when it was cancelled or another worker has it
   */
  async hold(manager: EntityManager, { id, lease }: Job): Promise<void> {
    const isEmbedded = manager.connection.options.type === 'better-sqlite3';
    const query = manager.createQueryBuilder(RuntimeJobEntity, 'job').select('job.id').where({ id, lease });
    if ((await (isEmbedded ? query : query.setLock('pessimistic_read')).getOne()) === null) {
      throw new LeaseLostError();
    }
  }

  /** Whether `complete` was called with this very job; the transaction may still have failed. */
  isCompleted(job: Job): boolean {
    return this.completed.has(job);
  }

  /**
   * Deletes the jobs of these tokens, running ones included: they can no longer store anything.
   * @param kinds only jobs of these kinds
   */
  async cancelOfToken(
    manager: EntityManager,
    instanceId: number,
    tokenIds: number[],
    kinds?: string[],
  ): Promise<void> {
    if (tokenIds.length > 0) {
      await manager.delete(RuntimeJobEntity, {
        instanceId,
        tokenId: In(tokenIds),
        ...(kinds === undefined ? {} : { kind: In(kinds) }),
      });
    }
  }

  /** The jobs of one kind that belong to an instance, running ones included. */
  async ofInstance(
    manager: EntityManager,
    instanceId: number,
    kind: string,
  ): Promise<Pick<Job, 'id' | 'payload'>[]> {
    const rows = await manager.findBy(RuntimeJobEntity, { instanceId, kind });
    return rows.map(({ id, payload }) => ({ id, payload }));
  }

  /** Deletes jobs by their ids, running ones included: they can no longer store anything. */
  async cancel(manager: EntityManager, ids: number[]): Promise<void> {
    if (ids.length > 0) {
      await manager.delete(RuntimeJobEntity, { id: In(ids) });
    }
  }

  /** Deletes every job of the instance, running ones included: they can no longer store anything. */
  async cancelOfInstance(manager: EntityManager, instanceId: number): Promise<void> {
    await manager.delete(RuntimeJobEntity, { instanceId });
  }

  /** Deletes the jobs with these dedupe keys, running ones included: they can no longer store anything. */
  async cancelKeys(manager: EntityManager, dedupeKeys: string[]): Promise<void> {
    if (dedupeKeys.length > 0) {
      await manager.delete(RuntimeJobEntity, { dedupeKey: In(dedupeKeys) });
    }
  }

  /** Wakes the workers of this replica. Call it after the commit; a call too many or too few only costs time. */
  wake(): void {
    this.signal.wake();
  }

  private toRow(job: NewJob & { id: number }, createdAt: Date): RuntimeJobEntity {
    this.check(job);
    return {
      id: job.id,
      shard: job.shard ?? (job.instanceId ?? job.id) % SHARDS,
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
      dedupeKey: job.dedupeKey ?? null,
      payload: job.payload,
      createdAt,
    };
  }

  // An insert that leaves duplicates out also cuts off what is too long.
  private check({ kind, dedupeKey, payload }: NewJob): void {
    if (kind === '' || kind.length > KIND_MAX_LENGTH) {
      throw new InvalidJobError(`The kind of a job must have 1 to ${KIND_MAX_LENGTH} characters.`);
    }
    if (dedupeKey !== undefined && (dedupeKey === '' || dedupeKey.length > DEDUPE_KEY_MAX_LENGTH)) {
      throw new InvalidJobError(
        `The dedupe key of a job must have 1 to ${DEDUPE_KEY_MAX_LENGTH} characters.`,
      );
    }
    if (Buffer.byteLength(JSON.stringify(payload)) > this.env.get('JOBS_MAX_PAYLOAD_BYTES')) {
      throw new InvalidJobError('The payload of a job exceeds JOBS_MAX_PAYLOAD_BYTES.');
    }
  }
}

async function insertRows(
  manager: EntityManager,
  rows: RuntimeJobEntity[],
  leavesOutDuplicates: boolean,
): Promise<void> {
  for (const batch of statementBatches(rows, ({ payload }) => jsonSize(payload))) {
    const insert = manager
      .createQueryBuilder()
      .insert()
      .into(RuntimeJobEntity)
      .values(batch as never[])
      .updateEntity(false);
    // Only then: a primary key that is taken must be an error.
    await (leavesOutDuplicates ? insert.orIgnore() : insert).execute();
  }
}
