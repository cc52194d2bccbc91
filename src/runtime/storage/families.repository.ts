import { In, LessThan } from 'typeorm';
import type { SqlExecutor } from '../../store/groups/shared-transaction.js';
import { shardOf } from '../../store/shards.js';
import { Table } from '../../store/tables/table.js';
import type { RawRow } from '../../store/tables/column-values.js';
import type { LimitUse } from '../../platform/observability/metrics/metrics.js';
import { type InstanceHead, ProcessFamilyEntity } from './process-instance.entity.js';

const FAMILIES = new Table(ProcessFamilyEntity, { rootId: shardOf });

/** Returns the family id of an instance: the id of the first instance in its call chain. */
export function familyOf({ id, rootId }: Pick<InstanceHead, 'id' | 'rootId'>): number {
  return rootId ?? id;
}

/**
 * Counts the called instances of process families. Transactions lock this row last, so that a family with many calls
 * blocks only itself.
 */
export const Families = {
  /** Locks the row of a family until the transaction ends; creates it if necessary. */
  async lock(executor: SqlExecutor, rootId: number): Promise<void> {
    await FAMILIES.ensure(executor, { rootId, shard: shardOf(rootId), instances: 0 });
  },

  /** Adds an instance. @returns false if there are already `most` */
  async enter(executor: SqlExecutor, rootId: number, most: number): Promise<boolean> {
    if (await tryIncrement(executor, rootId, most)) {
      return true;
    }
    // The row may have been removed when it was empty.
    await Families.lock(executor, rootId);
    return tryIncrement(executor, rootId, most);
  },

  async leave(executor: SqlExecutor, rootId: number): Promise<void> {
    await FAMILIES.update(executor, { rootId }, { instances: () => 'instances - 1' });
  },

  /** Returns the number of live called instances in all families and in the largest one. */
  async use(executor: SqlExecutor): Promise<LimitUse> {
    return useIn(executor, 'SELECT instances AS amount FROM process_families');
  },

  /** Returns the number of open background jobs of all families and of the largest one. */
  async useOfJobs(executor: SqlExecutor): Promise<LimitUse> {
    return useIn(
      executor,
      'SELECT COUNT(*) AS amount FROM runtime_jobs WHERE family_id IS NOT NULL GROUP BY family_id',
    );
  },

  /** Removes rows of families without called instances from some shards; returns how many. */
  async removeEmpty(executor: SqlExecutor, shards: readonly number[], limit: number): Promise<number> {
    const found = { order: { rootId: 'ASC' }, limit } as const;
    return FAMILIES.deleteFirst(
      executor,
      'rootId',
      { instances: LessThan(1), shard: In([...shards]) },
      found,
    );
  },
};

async function tryIncrement(executor: SqlExecutor, rootId: number, most: number): Promise<boolean> {
  const room = { rootId, instances: LessThan(most) };
  return (await FAMILIES.update(executor, room, { instances: () => 'instances + 1' })) === 1;
}

/** @param amounts statement that selects the amount of each family */
async function useIn(executor: SqlExecutor, amounts: string): Promise<LimitUse> {
  const [found] = await executor.query<RawRow[]>(
    `SELECT COALESCE(SUM(amount), 0) AS total, COALESCE(MAX(amount), 0) AS largest FROM (${amounts}) AS amounts`,
  );
  return { all: Number(found?.['total']), largest: Number(found?.['largest']) };
}
