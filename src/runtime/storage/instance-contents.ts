import type { EntityManager } from 'typeorm';
import { groupedBy } from '#engine/support';
import { inParallel } from '../../platform/concurrency/in-parallel.js';
import { isSharded, shardOf } from '../../store/shards.js';
import { readTogether } from '../../store/tables/read-together.js';
import { filledUp } from '../../store/tables/selection.js';
import type { InstanceList } from '../model/instance.params.dto.js';
import { newestEvents, type EventRow } from './events.repository.js';
import { newestChildren, revisions, type ChildHead } from './instances.repository.js';
import type { InstanceRow } from './process-instance.entity.js';
import type { TokenRow } from './process-token.entity.js';
import { shownTokens, toTokenRows, type ShownToken } from './tokens.repository.js';

/** Rows that belong to an instance, read at one moment. Lists that were not requested are empty. */
export interface InstanceContents {
  /** Revision of the instance at that moment; undefined if it was gone. */
  rev: number | undefined;
  /** Tokens that a step needs, sorted by id. */
  live: TokenRow[];
  /** Newest ended tokens, sorted by id. */
  ended: TokenRow[];
  /** Newest called processes. */
  children: ChildHead[];
  /** Newest events, newest first. */
  events: EventRow[];
}

/** Leaves database connections for other requests. */
const SHARDS_AT_ONCE = 4;

/**
 * Reads the contents of instances with one statement, or one per shard.
 * @param rows instances that were read before
 * @param pageSize maximum number of children, events and ended tokens per instance
 * @returns contents in the order of the instances
 */
export async function readContents(
  manager: EntityManager,
  rows: readonly Pick<InstanceRow, 'id' | 'seq'>[],
  lists: readonly InstanceList[],
  pageSize: number,
): Promise<InstanceContents[]> {
  if (!isSharded(manager)) {
    return readContentsOfShard(manager, rows, lists, pageSize);
  }
  const found = new Map<number, InstanceContents>();
  const shards = [...groupedBy(rows, ({ id }) => shardOf(id)).values()];
  await inParallel(shards, SHARDS_AT_ONCE, async (of) => {
    const contents = await readContentsOfShard(manager, of, lists, pageSize);
    of.forEach(({ id }, index) => found.set(id, contents[index] as InstanceContents));
  });
  return rows.map(({ id }) => found.get(id) as InstanceContents);
}

async function readContentsOfShard(
  manager: EntityManager,
  rows: readonly Pick<InstanceRow, 'id' | 'seq'>[],
  lists: readonly InstanceList[],
  pageSize: number,
): Promise<InstanceContents[]> {
  const padded = filledUp(rows);
  const ids = padded.map(({ id }) => id);
  const [revs, tokens, events, ...children] = await readTogether<
    [Pick<InstanceRow, 'id' | 'rev'>, ShownToken, EventRow, ...ChildHead[]]
  >(manager, [
    revisions(manager, ids),
    shownTokens(manager, ids, pageSize),
    lists.includes('history') ? newestEvents(manager, padded, pageSize) : undefined,
    ...(lists.includes('children') ? ids.map((id) => newestChildren(manager, id, pageSize)) : []),
  ]);
  const revOf = new Map(revs.map(({ id, rev }) => [id, rev]));
  const tokensOf = groupedBy(tokens, ({ instanceId, live }) => (live ? instanceId : `ended ${instanceId}`));
  const eventsOf = groupedBy(events, ({ instanceId }) => instanceId);
  return rows.map(({ id }, index) => ({
    rev: revOf.get(id),
    live: toTokenRows(tokensOf.get(id) ?? []),
    ended: toTokenRows(tokensOf.get(`ended ${id}`) ?? []),
    children: children[index] ?? [],
    // An instance requested at two revisions has the events of both.
    events: (eventsOf.get(id) ?? []).toSorted((one, other) => other.seq - one.seq).slice(0, pageSize),
  }));
}
