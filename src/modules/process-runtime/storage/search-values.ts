import { And, type EntityManager, type FindOperator } from 'typeorm';
import { both, EVERY_SHARD, type Condition } from '../../../database/conditions.js';
import { shardOf } from '../../../database/shards.js';
import { Table } from '../../../database/table.js';
import { termHash, type SearchChange, type SearchTerm } from '../model/search-terms.js';
import type { InstanceHead } from './instance.row.js';
import { ProcessSearchValueEntity } from './process-search-value.entity.js';

const VALUES = new Table(ProcessSearchValueEntity, { instanceId: shardOf });
const FOUND = VALUES.select('instanceId', 'uuid');

/** Stores by what an instance is found from now on, with one statement, or none where nothing of it has changed. */
export async function storeSearchValues(
  manager: EntityManager,
  { id, uuid, shard }: Pick<InstanceHead, 'id' | 'uuid' | 'shard'>,
  changes: readonly SearchChange[],
): Promise<void> {
  const rows = changes.map((change) => ({ instanceId: id, uuid, shard, ...change }));
  await VALUES.put(manager, rows, 'term');
}

/**
 * Instances that have all of these values, newest first: read from the index alone, in its order.
 * @param terms at least one
 * @param uuid which uuids
 */
export async function findBySearchValues(
  manager: EntityManager,
  [first, ...others]: readonly SearchTerm[],
  uuid: FindOperator<string>[],
  limit: number,
): Promise<Pick<InstanceHead, 'id' | 'uuid'>[]> {
  const found = await FOUND.find(
    manager,
    {
      shard: EVERY_SHARD,
      term: first === undefined ? null : termHash(first),
      ...(uuid.length > 0 && { uuid: And(...uuid) }),
    },
    {
      order: { uuid: 'DESC' },
      limit,
      and: both(others.map((term) => hasSearchValue('process_search_values', term))),
    },
  );
  return found.map(({ instanceId: id, uuid }) => ({ id, uuid }));
}

/** That a row of a table is of an instance that has a value. Each shard has the values of its instances. */
export function hasSearchValue(
  table: 'process_instances' | 'process_search_values',
  term: SearchTerm,
): Condition {
  return {
    sql: `EXISTS (SELECT 1 FROM process_search_values also WHERE also.shard = ${table}.shard AND also.uuid = ${table}.uuid AND also.term = ?)`,
    values: [termHash(term)],
  };
}
