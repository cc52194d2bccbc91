import { In, LessThan } from 'typeorm';
import type { Sender } from '../../store/groups/step-transaction.js';
import { shardOf } from '../../store/shards.js';
import { Table } from '../../store/tables/table.js';
import type { RawRow } from '../../store/tables/column-values.js';
import type { LimitUse } from '../../platform/observability/metrics/metrics.js';
import { type InstanceHead, ProcessFamilyEntity } from './process-instance.entity.js';

const FAMILIES = new Table(ProcessFamilyEntity, { rootId: shardOf });

/** Id of the family of an instance: that of the instance which nobody called. */
export function familyOf({ id, rootId }: Pick<InstanceHead, 'id' | 'rootId'>): number {
  return rootId ?? id;
}

/**
 * Counts what one started instance has called. The row is the last one that a transaction locks, so that a family that
 * multiplies waits for itself and for nobody else.
 */
export const Families = {
  /** Locks the row of a family until the transaction ends; there is one afterwards. */
  async lock(manager: Sender, rootId: number): Promise<void> {
    await FAMILIES.ensure(manager, { rootId, shard: shardOf(rootId), instances: 0 });
  },

  /** Counts one more. @returns false when there are `most` already */
  async enter(manager: Sender, rootId: number, most: number): Promise<boolean> {
    if (await counted(manager, rootId, most)) {
      return true;
    }
    // Its row may have been removed while it was empty.
    await Families.lock(manager, rootId);
    return counted(manager, rootId, most);
  },

  async leave(manager: Sender, rootId: number): Promise<void> {
    await FAMILIES.update(manager, { rootId }, { instances: () => 'instances - 1' });
  },

  /** Live called instances of all families, and of the largest one. */
  async use(manager: Sender): Promise<LimitUse> {
    return useIn(manager, 'SELECT instances AS amount FROM process_families');
  },

  /** Open background jobs of all families, and of the largest one. */
  async useOfJobs(manager: Sender): Promise<LimitUse> {
    return useIn(
      manager,
      'SELECT COUNT(*) AS amount FROM runtime_jobs WHERE family_id IS NOT NULL GROUP BY family_id',
    );
  },

  /** Removes rows of some shards that count nothing; returns how many. */
  async removeEmpty(manager: Sender, shards: readonly number[], limit: number): Promise<number> {
    const found = { order: { rootId: 'ASC' }, limit } as const;
    return FAMILIES.deleteFirst(manager, 'rootId', { instances: LessThan(1), shard: In([...shards]) }, found);
  },
};

async function counted(manager: Sender, rootId: number, most: number): Promise<boolean> {
  const room = { rootId, instances: LessThan(most) };
  return (await FAMILIES.update(manager, room, { instances: () => 'instances + 1' })) === 1;
}

/** @param amounts statement that reads the amount of each family */
async function useIn(manager: Sender, amounts: string): Promise<LimitUse> {
  const [found] = await manager.query<RawRow[]>(
    `SELECT COALESCE(SUM(amount), 0) AS total, COALESCE(MAX(amount), 0) AS largest FROM (${amounts}) AS amounts`,
  );
  return { all: Number(found?.['total']), largest: Number(found?.['largest']) };
}
