import { And, type EntityManager, type FindOperator } from 'typeorm';
import type { SqlExecutor } from '../../store/groups/shared-transaction.js';
import { allOf, EVERY_SHARD, type Condition, type Where } from '../../store/tables/conditions.js';
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

/** Index sorted by term and uuid, across all applications and starters. */
const BY_UUID = 'ix_process_search_values_term';
/** Maximum number of instances counted per term to find the rarest one. */
const MAX_COUNTED = 1_000;

/** Instances that a caller may see, in terms of one index. */
export interface SeenValues {
  /** A starter or applications; empty for all instances. */
  where: Where<Pick<ProcessSearchValueEntity, 'appId' | 'starter'>>;
  /** Condition on `app_id`, instead of one in `where`. */
  ofApps?: Condition;
}

/** Parameters of a search by data. */
export interface DataSearch {
  /** At least one. */
  terms: readonly SearchTerm[];
  uuid: FindOperator<string>[];
  /** Visible instances: those that match one of these parts. */
  seen: readonly SeenValues[];
}

const ANY: Condition = { sql: '', values: [] };

type Place = Pick<InstanceHead, 'id' | 'uuid'>;

/** Stores changed searchable values of an instance with one statement, or none without changes. */
export async function storeSearchValues(
  executor: SqlExecutor,
  { id, uuid, shard, appId, starter }: Pick<InstanceHead, 'id' | 'uuid' | 'shard' | 'appId' | 'starter'>,
  changes: readonly SearchChange[],
): Promise<void> {
  const rows = changes.map((change) => ({ instanceId: id, uuid, shard, appId, starter, ...change }));
  await VALUES.put(executor, rows, 'term');
}

/** Finds instances that have all values, newest first, using indexes only. */
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
  const and = allOf(others.map((term) => hasSearchValue(manager, 'process_search_values', term)));
  const [found = []] = await newestOf(manager, search, [first], { limit, and });
  return found;
}

/**
 * Sorts terms so that the first one is the cheapest to scan: the one with the fewest instances or, if all have many, the one whose
 * newest instances span the longest time.
 * @returns an empty list if a term has no instances
 */
async function rarestFirst(manager: EntityManager, search: DataSearch): Promise<SearchTerm[]> {
  const { terms } = search;
  const newest = await newestOf(manager, search, terms, { limit: MAX_COUNTED });
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

/** Returns the newest instances of each term, newest first. */
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
        { order: { uuid: 'DESC' }, limit, and: allOf([part.ofApps ?? ANY, and]), index: indexFor(part) },
      ),
    ),
  );
  const read = await readTogether(manager, parts);
  return terms.map((_, index) => {
    const rows = read.slice(index * seen.length, (index + 1) * seen.length).flat();
    // Instances that the caller started may also be in an application that they may read.
    const places = new Map(rows.map(({ instanceId: id, uuid }) => [id, { id, uuid }]));
    return newestFirst([...places.values()]).slice(0, limit);
  });
}

/** Chooses the index explicitly, because a server that expects few rows may choose one that also reads rows of other callers. */
function indexFor({ where, ofApps }: SeenValues): string {
  if ('starter' in where) {
    return 'ix_process_search_values_starter';
  }
  return 'appId' in where || ofApps !== undefined ? 'ix_process_search_values_app' : BY_UUID;
}

/**
 * Returns the condition that a row belongs to an instance with a value. Values are in the same shard as their instance. Not written
 * as EXISTS, because a server may turn that into a join that reads all rows of the value.
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
