import { hash } from 'node:crypto';
import { In } from 'typeorm';
import type { SqlExecutor } from '../../store/groups/shared-transaction.js';
import { andShard, shardOf, shardOfHash } from '../../store/shards.js';
import { Table } from '../../store/tables/table.js';
import type { Job } from '../model/job-queue.types.js';
import { RuntimeJobEntity } from './runtime-job.entity.js';

type HeldJob = Pick<Job, 'id' | 'shard' | 'lease'>;

const JOBS = new Table(RuntimeJobEntity, { instanceId: shardOf, dedupeKey: shardOfKey });
const ID = JOBS.select('id');
const WORK = JOBS.select('id', 'payload');

/** Adds, finds and deletes jobs in transactions of the queue's callers. `JobsRepository` claims and releases jobs. */
export const OpenJobs = {
  /** @param ignoresDuplicates skips rows with a unique value that exists already */
  async insert(
    executor: SqlExecutor,
    rows: readonly RuntimeJobEntity[],
    ignoresDuplicates = false,
  ): Promise<void> {
    await JOBS.insert(executor, rows, ignoresDuplicates);
  },

  /** Deletes a job. @returns false when it is gone or another worker has it */
  async deleteHeld(executor: SqlExecutor, { id, shard, lease }: HeldJob): Promise<boolean> {
    return JOBS.deleteOne(executor, { id, shard, lease });
  },

  /** Locks a job until the transaction ends. @returns false when it is gone or another worker has it */
  async lockHeld(executor: SqlExecutor, { id, shard, lease }: HeldJob): Promise<boolean> {
    return (await ID.first(executor, { id, shard, lease }, { lock: 'pessimistic_read' })) !== null;
  },

  /** Deletes the jobs of tokens. @param kinds only jobs of these kinds */
  async deleteOfTokens(
    executor: SqlExecutor,
    instanceId: number,
    tokenIds: number[],
    kinds?: string[],
  ): Promise<void> {
    const ofKinds = kinds === undefined ? {} : { kind: In(kinds) };
    await JOBS.delete(executor, { instanceId, tokenId: In(tokenIds), ...ofKinds });
  },

  async ofInstance(
    executor: SqlExecutor,
    instanceId: number,
    kind: string,
  ): Promise<Pick<Job, 'id' | 'payload'>[]> {
    return WORK.find(executor, { instanceId, kind });
  },

  /** Counts the jobs of a process family, up to `most`. */
  async countOfFamily(executor: SqlExecutor, familyId: number, most: number): Promise<number> {
    const shard = andShard(executor, shardOf(familyId));
    const [found] = await executor.query<{ jobs: unknown }[]>(
      `SELECT COUNT(*) AS jobs FROM (SELECT id FROM runtime_jobs WHERE family_id = ?${shard.sql} LIMIT ?) AS counted`,
      [familyId, ...shard.values, most],
    );
    return Number(found?.jobs ?? 0);
  },

  async delete(executor: SqlExecutor, instanceId: number, ids: number[]): Promise<void> {
    await JOBS.delete(executor, { id: In(ids), instanceId });
  },

  /** Deletes jobs by dedupe key. @param shard shard of the jobs; by default that of jobs without an owner */
  async deleteKeys(executor: SqlExecutor, dedupeKeys: string[], shard?: number): Promise<void> {
    const place = shard === undefined ? {} : { shard };
    await JOBS.delete(executor, { dedupeKey: In(dedupeKeys), ...place });
  },
};

/** Returns the shard of jobs with a dedupe key and no owner. */
export function shardOfKey(dedupeKey: string): number {
  return shardOfHash(hash('sha256', dedupeKey));
}
