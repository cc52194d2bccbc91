import { In, type EntityManager } from 'typeorm';
import type { DatabaseTime } from '../../store/tables/database-time.js';
import { andShard, inShard, isSharded } from '../../store/shards.js';
import { Table } from '../../store/tables/table.js';
import type { JobLane } from '../model/job-queue.types.js';
import { RuntimeJobEntity } from './runtime-job.entity.js';

const JOBS = new Table(RuntimeJobEntity, {});
const ALL = JOBS.selectAllBut();

/** Which jobs a worker asks for. */
export interface DueRequest {
  lane: JobLane;
  /** Kinds that can be run here. Others belong to another release and are left as they are. */
  kinds: string[];
  limit: number;
}

export type JobPlace = Pick<RuntimeJobEntity, 'id' | 'shard'>;

/** A job that is due, or will be soon. */
export interface DueJob extends JobPlace {
  kind: string;
  /** Milliseconds until it may be claimed, above 0 when that is still to come. */
  waitMs: number;
}

/**
 * Jobs of some shards that are due or will be within `aheadMs`, first those that come up first. Locks nothing: a locking read of a range also locks the
 * row behind its end for a moment, which may be the first due job of another lane of jobs, and whoever skips locked rows then misses it.
 */
export async function dueJobs(
  manager: EntityManager,
  time: DatabaseTime,
  { lane, kinds, limit, aheadMs, shards }: DueRequest & { aheadMs: number; shards: readonly number[] },
): Promise<DueJob[]> {
  // Ids alone: rows with large payloads must not get into a sort buffer.
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

/** Where jobs are. */
export function shardsOf(jobs: readonly JobPlace[]): number[] {
  return [...new Set(jobs.map(({ shard }) => shard))];
}

/** How jobs are taken. */
export interface Taking {
  /** New and unique: marks what was taken. */
  lease: string;
  /** How long it is held from now on. */
  leaseMs: number;
  /** Whether rows that others hold are passed over, instead of waiting for them. */
  skipsLocked: boolean;
}

/**
 * Takes those of the jobs that are due, and counts that they are begun, by one statement that commits by itself. When it is sent twice,
 * the second time changes nothing.
 * @param jobs of one group of shards
 * @returns their rows
 */
export async function takeJobs(
  manager: EntityManager,
  jobs: readonly JobPlace[],
  time: DatabaseTime,
  taking: Taking,
): Promise<RuntimeJobEntity[]> {
  // A server of several shards changes no table that is joined. It is asked before what is free, which is so a moment later, too.
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
  // Of a small table the server would otherwise rather look at, and lock, every row.
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

/** Those of the jobs that nobody is just taking, completing or cancelling. */
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
 * The earliest time of a job of a lane and of some shards that nobody works at; undefined when there is none.
 * @param of `dueAt`: when it was to be done, also where it was put off. `availableAt`: since when it may be claimed
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
