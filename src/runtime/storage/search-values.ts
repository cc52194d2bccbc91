import { And, type EntityManager, type FindOperator } from 'typeorm';
import type { Sender } from '../../store/groups/step-transaction.js';
import { both, EVERY_SHARD, type Condition, type Where } from '../../store/tables/conditions.js';
import { readTogether } from '../../store/tables/read-together.js';
import { indexHint } from '../../store/tables/selection.js';
import { shardOf } from '../../store/shards.js';
import { Table } from '../../store/tables/table.js';
import { termHash, type SearchChange, type SearchTerm } from '../model/search-terms.js';
import type { InstanceHead } from './process-instance.entity.js';
import { ProcessSearchValueEntity } from './process-search-value.entity.js';
import { newestFirst } from './incident-lists.repository.js';

const VALUES = new Table(ProcessSearchValueEntity, { instanceId: shardOf });
const FOUND = VALUES.select('instanceId', 'uuid');

/** Has the uuid next to the value, so that values of all are in its order. */
const BY_UUID = 'ix_process_search_values_term';
/** So many instances are looked at of each value, to see which one is rare. */
const MOST_COUNTED = 1_000;

/** Instances that a caller may see, as one index has them. */
export interface SeenValues {
  /** A starter, or applications; neither for all instances. */
  where: Where<Pick<ProcessSearchValueEntity, 'appId' | 'starter'>>;
  /** A condition on `app_id` in place of one in `where`. */
  ofApps?: Condition;
}

/** What a search by data looks for. */
export interface DataSearch {
  /** At least one. */
  terms: readonly SearchTerm[];
  uuid: FindOperator<string>[];
  /** Instances that one of these has are found; rows of others are not read. */
  seen: readonly SeenValues[];
}

const ANY: Condition = { sql: '', values: [] };

type Place = Pick<InstanceHead, 'id' | 'uuid'>;

/** Stores by what an instance is found from now on, with one statement, or none where nothing of it has changed. */
export async function storeSearchValues(
  manager: Sender,
  { id, uuid, shard, appId, starter }: Pick<InstanceHead, 'id' | 'uuid' | 'shard' | 'appId' | 'starter'>,
  changes: readonly SearchChange[],
): Promise<void> {
  const rows = changes.map((change) => ({ instanceId: id, uuid, shard, appId, starter, ...change }));
  await VALUES.put(manager, rows, 'term');
}

/** Instances that have all of these values, newest first: read from indexes alone. */
export async function findBySearchValues(
  manager: EntityManager,
  search: DataSearch,
  limit: number,
): Promise<Place[]> {
  const { terms } = search;
  const [first, ...others] = terms.length > 1 ? await rarestFirst(manager, search) : terms;
  if (first === undefined) {
    return [];
  }
  const and = both(others.map((term) => hasSearchValue(manager, 'process_search_values', term)));
  const [found = []] = await newestOf(manager, search, [first], { limit, and });
  return found;
}

/**
 * Terms in an order in which the first one is worth walking through: few instances have it or, where many have each, its newest ones
 * are the furthest apart.
 * @returns none where nothing has one of them
 */
async function rarestFirst(manager: EntityManager, search: DataSearch): Promise<SearchTerm[]> {
  const { terms } = search;
  const newest = await newestOf(manager, search, terms, { limit: MOST_COUNTED });
  const found = newest.map((places, index) => ({
    term: terms[index],
    amount: places.length,
    oldest: places.at(-1)?.uuid ?? '',
  }));
  if (found.some(({ amount }) => amount === 0)) {
    return [];
  }
  return found
    .toSorted((one, other) => one.amount - other.amount || (one.oldest < other.oldest ? -1 : 1))
    .flatMap(({ term }) => term ?? []);
}

/** Of each term the newest instances that have it, newest first. */
async function newestOf(
  manager: EntityManager,
  { seen, uuid }: DataSearch,
  terms: readonly SearchTerm[],
  { limit, and = ANY }: { limit: number; and?: Condition },
): Promise<Place[][]> {
  const within = uuid.length > 0 ? { uuid: And(...uuid) } : {};
  const parts = terms.flatMap((term) =>
    seen.map((part) =>
      FOUND.part(
        manager,
        { shard: EVERY_SHARD, term: termHash(term), ...part.where, ...within },
        { order: { uuid: 'DESC' }, limit, and: both([part.ofApps ?? ANY, and]), index: indexFor(part) },
      ),
    ),
  );
  const read = await readTogether(manager, parts);
  return terms.map((_, index) => {
    const rows = read.slice(index * seen.length, (index + 1) * seen.length).flat();
    // A caller has started some of what they see of an application.
    const places = new Map(rows.map(({ instanceId: id, uuid }) => [id, { id, uuid }]));
    return newestFirst([...places.values()]).slice(0, limit);
  });
}

/** Named, since a server that believes the rows to be few would choose an index in which those of others are. */
function indexFor({ where, ofApps }: SeenValues): string {
  if ('starter' in where) {
    return 'ix_process_search_values_starter';
  }
  return 'appId' in where || ofApps !== undefined ? 'ix_process_search_values_app' : BY_UUID;
}

/**
 * That a row of a table is of an instance that has a value. Each shard has the values of its instances. Spelled so that no server reads
 * other rows of the value, as it may by a join that it makes of EXISTS.
 */
export function hasSearchValue(
  manager: EntityManager,
  table: 'process_instances' | 'process_search_values',
  term: SearchTerm,
): Condition {
  return {
    sql: `(SELECT 1 FROM process_search_values also${indexHint(manager, BY_UUID)} WHERE also.shard = ${table}.shard AND also.uuid = ${table}.uuid AND also.term = ? LIMIT 1) = 1`,
    values: [termHash(term)],
  };
}
