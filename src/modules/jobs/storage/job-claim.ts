import { In, type EntityManager } from 'typeorm';
import type { DatabaseTime } from '../../../database/database-time.js';
import { sqlTime } from '../../../database/table-columns.js';
import { Table } from '../../../database/table.js';
import { isUnknownStatement } from '../../../database/unknown-statement.js';
import type { JobLane } from '../model/job-lane.js';
import { RuntimeJobEntity } from './runtime-job.entity.js';

const JOBS = new Table(RuntimeJobEntity);
const ALL = JOBS.selectAllBut();
const PLACE = JOBS.select('id', 'kind', 'lane', 'availableAt');

/** Which jobs a worker asks for. */
export interface DueRequest {
  lane: JobLane;
  /** Kinds that can be run here. Others belong to another release and are left as they are. */
  kinds: string[];
  limit: number;
}

/** A job that is due, or will be soon. */
export interface DueJob {
  id: number;
  kind: string;
  /** Milliseconds until it may be claimed, above 0 when that is still to come. */
  waitMs: number;
}

/**
 * Jobs that are due or will be within `aheadMs`, first those that come up first. Locks nothing: a locking read of a range also locks the
 * row behind its end for a moment, which may be the first due job of another lane of jobs, and whoever skips locked rows then misses it.
 */
export async function dueJobs(
  manager: EntityManager,
  time: DatabaseTime,
  { lane, kinds, limit, aheadMs }: DueRequest & { aheadMs: number },
): Promise<DueJob[]> {
  const end = time.later(aheadMs);
  const wait = time.untilMs('job.available_at');
  // Ids alone: rows with large payloads must not get into a sort buffer.
  const rows = await manager
    .createQueryBuilder(RuntimeJobEntity, 'job')
    .select('job.id', 'id')
    .addSelect('job.kind', 'kind')
    .addSelect(wait.sql, 'wait')
    .where({ lane, kind: In(kinds) })
    .andWhere(`job.available_at <= ${end.sql}`)
    .setParameters({ ...end.parameters, ...wait.parameters })
    .orderBy('job.availableAt')
    .addOrderBy('job.id')
    .limit(limit)
    .getRawMany<{ id: unknown; kind: string; wait: unknown }>();
  return rows.map((row) => ({ id: Number(row.id), kind: row.kind, waitMs: Number(row.wait) }));
}

/** How jobs are taken. */
export interface Taking {
  /** New and unique: marks what was taken. */
  lease: string;
  /** How long it is held from now on. */
  leaseMs: number;
  /** Whether rows that others hold are passed over (MySQL 8, MariaDB 10.6), instead of waiting for them. */
  skipsLocked: boolean;
}

/**
 * Takes those of the jobs that are due, and counts that they are begun, by one statement that commits by itself. When it is sent twice,
 * the second time changes nothing.
 * @returns their rows
 */
export async function takeJobs(
  manager: EntityManager,
  ids: readonly number[],
  time: DatabaseTime,
  { lease, leaseMs, skipsLocked }: Taking,
): Promise<RuntimeJobEntity[]> {
  const marks = ids.map(() => '?').join(', ');
  // Of a small table the server would otherwise rather look at, and lock, every row.
  const target = skipsLocked
    ? `(SELECT id FROM runtime_jobs FORCE INDEX (PRIMARY) WHERE id IN (${marks}) LIMIT ${ids.length} FOR UPDATE SKIP LOCKED) AS free STRAIGHT_JOIN runtime_jobs AS job FORCE INDEX (PRIMARY) ON job.id = free.id`
    : 'runtime_jobs';
  const [until, now] = [time.bound(leaseMs), time.bound(0)];
  const changes = `SET lease = ?, available_at = ${until.sql}, attempts = attempts + 1`;
  const [first, last] = skipsLocked ? [ids, []] : [[], ids];
  await manager.query(
    `UPDATE ${target} ${changes} WHERE available_at <= ${now.sql}${skipsLocked ? '' : ` AND id IN (${marks})`}`,
    [...first, lease, ...until.values, ...now.values, ...last],
  );
  return ALL.find(manager, { id: In([...ids]), lease });
}

/** Where to go on in the order of times. */
export interface PlaceInTime {
  availableAt: Date;
  id: number;
}

/**
 * Jobs of a lane that may be claimed after a place in time, up to an end, in this order.
 * @param limit at the most so many
 */
export function jobsFrom(
  manager: EntityManager,
  lane: JobLane,
  { after, until, limit }: { after: PlaceInTime; until: Date; limit: number },
): Promise<Pick<RuntimeJobEntity, 'id' | 'kind' | 'lane' | 'availableAt'>[]> {
  const from = sqlTime(after.availableAt);
  const and = {
    sql: '(available_at > ? OR (available_at = ? AND id > ?)) AND available_at <= ?',
    values: [from, from, after.id, sqlTime(until)],
  };
  return PLACE.find(manager, { lane }, { and, order: { availableAt: 'ASC', id: 'ASC' }, limit });
}

/** Whether the server knows SKIP LOCKED. Rethrows failures that tell nothing about it, such as a lost connection. */
export async function knowsSkipLocked(manager: EntityManager): Promise<boolean> {
  try {
    await manager.query(
      'SELECT id FROM runtime_jobs FORCE INDEX (PRIMARY) WHERE id IN (?) FOR UPDATE SKIP LOCKED',
      [0],
    );
    return true;
  } catch (error) {
    if (isUnknownStatement(error)) {
      return false;
    }
    throw error;
  }
}
