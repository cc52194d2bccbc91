import { In, type EntityManager } from 'typeorm';
import { isUnknownStatement } from '../../../database/unknown-statement.js';
import { RuntimeJobEntity } from './runtime-job.entity.js';
import type { JobLane } from '../model/job-lane.js';
import type { SqlTime } from '../../../database/database-time.js';

/** Which jobs a worker asks for. */
export interface DueRequest {
  lane: JobLane;
  /** Kinds that can be run here. Others belong to another release and are left as they are. */
  kinds: string[];
  limit: number;
}

/**
 * Ids of due jobs, first those that came up first. Locks nothing: a locking read of a range also locks the row behind
 * its end for a moment, which may be the first due job of another lane of jobs, and whoever skips locked rows then misses it.
 */
export async function dueJobs(
  manager: EntityManager,
  { lane, kinds, limit }: DueRequest,
  now: SqlTime,
): Promise<number[]> {
  // Ids alone: rows with large payloads must not get into a sort buffer.
  const rows = await manager
    .createQueryBuilder(RuntimeJobEntity, 'job')
    .select('job.id', 'id')
    .where({ lane, kind: In(kinds) })
    .andWhere(`job.available_at <= ${now.sql}`, now.parameters)
    .orderBy('job.availableAt')
    .addOrderBy('job.id')
    .limit(limit)
    .getRawMany<{ id: unknown }>();
  return rows.map(({ id }) => Number(id));
}

/**
 * Locks those of the jobs that nobody else is just claiming, completing or cancelling (MySQL 8, MariaDB 10.6).
 * @returns their ids; another worker may have taken them before that
 */
export async function lockSkippingLocked(manager: EntityManager, ids: number[]): Promise<number[]> {
  const marks = ids.map(() => '?').join(', ');
  // Of a small table the server would otherwise rather look at, and lock, every row.
  const rows: { id: unknown }[] = await manager.query(
    `SELECT id FROM runtime_jobs FORCE INDEX (PRIMARY) WHERE id IN (${marks}) FOR UPDATE SKIP LOCKED`,
    ids,
  );
  return rows.map(({ id }) => Number(id));
}

/**
 * Takes those of the jobs that are still due.
 * @param lease new and unique: marks what was taken
 * @param until when the lease ends
 * @returns how many
 */
export async function takeJobs(
  manager: EntityManager,
  ids: number[],
  lease: string,
  { now, until }: { now: SqlTime; until: SqlTime },
): Promise<number> {
  const { affected } = await manager
    .createQueryBuilder()
    .update(RuntimeJobEntity)
    .set({ lease, availableAt: () => until.sql })
    .where({ id: In(ids) })
    .andWhere(`available_at <= ${now.sql}`)
    .setParameters({ ...now.parameters, ...until.parameters })
    .execute();
  return affected ?? 0;
}

/** Whether the server knows SKIP LOCKED. Rethrows failures that tell nothing about it, such as a lost connection. */
export async function knowsSkipLocked(manager: EntityManager): Promise<boolean> {
  try {
    await lockSkippingLocked(manager, [0]);
    return true;
  } catch (error) {
    if (isUnknownStatement(error)) {
      return false;
    }
    throw error;
  }
}
