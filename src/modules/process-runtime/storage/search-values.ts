import { And, type EntityManager, type FindOperator } from 'typeorm';
import { both, EVERY_SHARD, type Condition, type Where } from '../../../database/conditions.js';
import { readTogether } from '../../../database/read-together.js';
import { shardOf } from '../../../database/shards.js';
import { Table } from '../../../database/table.js';
import { termHash, type SearchChange, type SearchTerm } from '../model/search-terms.js';
import type { InstanceHead } from './instance.row.js';
import { ProcessSearchValueEntity } from './process-search-value.entity.js';

const VALUES = new Table(ProcessSearchValueEntity, { instanceId: shardOf });
const FOUND = VALUES.select('instanceId', 'uuid');
const NEWEST = VALUES.select('uuid');

/** So many instances are looked at of each value, to see which one is rare. */
const MOST_COUNTED = 1_000;

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
  terms: readonly SearchTerm[],
  uuid: FindOperator<string>[],
  limit: number,
): Promise<Pick<InstanceHead, 'id' | 'uuid'>[]> {
  const [first, ...others] = terms.length > 1 ? await rarestFirst(manager, terms, uuid) : terms;
  if (first === undefined) {
    return [];
  }
  const found = await FOUND.find(manager, havingValue(first, uuid), {
    order: { uuid: 'DESC' },
    limit,
    and: both(others.map((term) => hasSearchValue('process_search_values', term))),
  });
  return found.map(({ instanceId: id, uuid }) => ({ id, uuid }));
}

/**
 * Terms in an order in which the first one is worth walking through: few instances have it or, where many have each, its newest ones
 * are the furthest apart.
 * @returns none where nothing has one of them
 */
async function rarestFirst(
  manager: EntityManager,
  terms: readonly SearchTerm[],
  uuid: FindOperator<string>[],
): Promise<SearchTerm[]> {
  const parts = terms.map((term) =>
    NEWEST.part(manager, havingValue(term, uuid), { order: { uuid: 'DESC' }, limit: MOST_COUNTED }),
  );
  const found = (await readTogether(manager, parts)).map((rows, index) => ({
    term: terms[index],
    amount: rows.length,
    oldest: rows.reduce((oldest, { uuid }) => (uuid < oldest ? uuid : oldest), rows[0]?.uuid ?? ''),
  }));
  if (found.some(({ amount }) => amount === 0)) {
    return [];
  }
  return found
    .toSorted((one, other) => one.amount - other.amount || (one.oldest < other.oldest ? -1 : 1))
    .flatMap(({ term }) => term ?? []);
}

function havingValue(term: SearchTerm, uuid: FindOperator<string>[]): Where<ProcessSearchValueEntity> {
  return { shard: EVERY_SHARD, term: termHash(term), ...(uuid.length > 0 && { uuid: And(...uuid) }) };
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
