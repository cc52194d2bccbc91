import { In, type EntityManager } from 'typeorm';
import type { DatabaseTime } from '../../store/tables/database-time.js';
import { andShard, inShard, isSharded } from '../../store/shards.js';
import { Table } from '../../store/tables/table.js';
import type { JobLane } from '../model/job-queue.types.js';
import { RuntimeJobEntity } from './runtime-job.entity.js';

const JOBS = new Table(RuntimeJobEntity, {});
const ALL = JOBS.selectAllBut();

/** Which jobs a worker can claim. */
export interface DueRequest {
  lane: JobLane;
  /** Kinds with a handler in this release. Other kinds are left for other releases. */
  kinds: string[];
  limit: number;
}

export type JobPlace = Pick<RuntimeJobEntity, 'id' | 'shard'>;

/** A job that is due, or will be soon. */
export interface DueJob extends JobPlace {
  kind: string;
  /** Milliseconds until the job can be claimed; 0 or less when it is due. */
  waitMs: number;
}

/**
 * Finds jobs of some shards that are due now or within `aheadMs`, earliest first. Locks nothing: a locking range read briefly locks
 * the row after the range as well. That row may be the first due job of another lane, whose workers skip locked rows and would miss it.
 */
export async function dueJobs(
  manager: EntityManager,
  time: DatabaseTime,
  { lane, kinds, limit, aheadMs, shards }: DueRequest & { aheadMs: number; shards: readonly number[] },
): Promise<DueJob[]> {
  // Selects no payloads, because large ones must not get into a sort buffer.
  const rows = await manager
    .createQueryBuilder(RuntimeJobEntity, 'job')
    .select('job.id', 'id')
    .addSelect('job.shard', 'shard')
    .addSelect('job.kind', 'kind')
    .addSelect(time.untilMs('job.available_at'), 'wait')
    .where({ lane, kind: In(kinds), ...inShard(manager, shards) })
    .andWhere(`job.available_at <= ${time.at(aheadMs)}`)
    .orderBy('job.availableAt')
    .addOrderBy('job.id')
    .limit(limit)
    .getRawMany<{ id: unknown; shard: unknown; kind: string; wait: unknown }>();
  return rows.map(({ id, shard, kind, wait }) => ({
    id: Number(id),
    shard: Number(shard),
    kind,
    waitMs: Number(wait),
  }));
}

/** Returns the distinct shards of jobs. */
export function shardsOf(jobs: readonly JobPlace[]): number[] {
  return [...new Set(jobs.map(({ shard }) => shard))];
}

/** How jobs are claimed. */
export interface Taking {
  /** New unique value that marks the claimed rows. */
  lease: string;
  /** Length of the lease from now in milliseconds. */
  leaseMs: number;
  /** Whether to skip locked rows instead of waiting for them. */
  skipsLocked: boolean;
}

/**
 * Claims the due jobs among the given ones and counts the attempt, in one statement with its own commit. Sending it twice changes
 * nothing the second time.
 * @param jobs must belong to one group of shards
 * @returns the claimed rows
 */
export async function takeJobs(
  manager: EntityManager,
  jobs: readonly JobPlace[],
  time: DatabaseTime,
  taking: Taking,
): Promise<RuntimeJobEntity[]> {
  // A sharded server cannot update joined tables, so a separate statement finds the unlocked rows first.
  const isApart = taking.skipsLocked && isSharded(manager);
  const free = isApart ? await unlocked(manager, jobs) : jobs;
  if (free.length === 0) {
    return [];
  }
  await markTaken(manager, free, time, isApart ? { ...taking, skipsLocked: false } : taking);
  const ids = free.map(({ id }) => id);
  return ALL.find(manager, { id: In(ids), shard: In(shardsOf(free)), lease: taking.lease });
}

async function markTaken(
  manager: EntityManager,
  jobs: readonly JobPlace[],
  time: DatabaseTime,
  { lease, leaseMs, skipsLocked }: Taking,
): Promise<void> {
  const ids = jobs.map(({ id }) => id);
  const shard = andShard(manager, shardsOf(jobs));
  const marks = ids.map(() => '?').join(', ');
  // Without the index hint the server scans, and locks, all rows of a small table.
  const target = skipsLocked
    ? `(SELECT id FROM runtime_jobs FORCE INDEX (PRIMARY) WHERE id IN (${marks}) LIMIT ${ids.length} FOR UPDATE SKIP LOCKED) AS free STRAIGHT_JOIN runtime_jobs AS job FORCE INDEX (PRIMARY) ON job.id = free.id`
    : 'runtime_jobs';
  const changes = `SET lease = ?, available_at = ${time.at(leaseMs)}, attempts = attempts + 1`;
  const [first, last] = skipsLocked ? [ids, []] : [[], ids];
  await manager.query(
    `UPDATE ${target} ${changes} WHERE available_at <= ${time.at()}${skipsLocked ? '' : ` AND id IN (${marks})`}${shard.sql}`,
    [...first, lease, ...last, ...shard.values],
  );
}

/** Returns the jobs that no other transaction is claiming, completing or cancelling. */
async function unlocked(manager: EntityManager, jobs: readonly JobPlace[]): Promise<JobPlace[]> {
  const shard = andShard(manager, shardsOf(jobs));
  const rows: { id: unknown }[] = await manager.query(
    `SELECT id FROM runtime_jobs FORCE INDEX (PRIMARY) WHERE id IN (${jobs.map(() => '?').join(', ')})${shard.sql} FOR UPDATE SKIP LOCKED`,
    [...jobs.map(({ id }) => id), ...shard.values],
  );
  const free = new Set(rows.map(({ id }) => Number(id)));
  return jobs.filter(({ id }) => free.has(id));
}

/**
 * Returns the earliest time of a job in a lane and some shards that no worker holds; undefined when there is none.
 * @param of `dueAt`: when the job was first due, even if postponed since. `availableAt`: when it became available to workers
 */
export async function oldestOf(
  manager: EntityManager,
  time: DatabaseTime,
  of: 'dueAt' | 'availableAt',
  lane: JobLane,
  shards: readonly number[],
): Promise<Date | undefined> {
  const row = await manager
    .createQueryBuilder(RuntimeJobEntity, 'job')
    .select(['job.id', `job.${of}`])
    .where({ lane, ...inShard(manager, shards) })
    .andWhere(`job.${of} <= ${time.at()}`)
    .andWhere(`(job.lease IS NULL OR job.available_at <= ${time.at()})`)
    .orderBy(`job.${of}`)
    .limit(1)
    .getOne();
  return row?.[of];
}
