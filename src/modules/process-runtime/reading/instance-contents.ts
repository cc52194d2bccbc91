import type { EntityManager } from 'typeorm';
import { groupedBy } from '../../../common/cached.js';
import { inParallel } from '../../../common/in-parallel.js';
import { readTogether } from '../../../database/read-together.js';
import { isSharded, shardOf } from '../../../database/shards.js';
import { filledUp } from '../../../database/selection.js';
import { newestEvents, type EventRow } from '../storage/events.repository.js';
import type { InstanceRow } from '../storage/process-instance.entity.js';
import { newestChildren, revisions, type ChildHead } from '../storage/instances.repository.js';
import { shownTokens, toTokenRows, type ShownToken } from '../storage/tokens.repository.js';
import type { TokenRow } from '../storage/process-token.entity.js';
import type { InstanceList } from '../model/instance.params.dto.js';

/** What belongs to an instance, as it was at one moment. Of lists that were not asked for nothing is there. */
export interface InstanceContents {
  /** Revision of the instance at that moment; undefined when it was gone. */
  rev: number | undefined;
  /** Tokens that a step would read, by id. */
  live: TokenRow[];
  /** The newest of the others, by id. */
  ended: TokenRow[];
  /** The newest. */
  children: ChildHead[];
  /** The newest, newest first. */
  events: EventRow[];
}

/** Others want connections, too. */
const SHARDS_AT_ONCE = 4;

/**
 * Reads what belongs to instances, with one statement for any number of them, or for those of one shard.
 * @param rows instances as they were read before
 * @param pageSize how many of what an instance has very many of
 * @returns in the order of the instances
 */
export async function readContents(
  manager: EntityManager,
  rows: readonly Pick<InstanceRow, 'id' | 'seq'>[],
  lists: readonly InstanceList[],
  pageSize: number,
): Promise<InstanceContents[]> {
  if (!isSharded(manager)) {
    return readTheseContents(manager, rows, lists, pageSize);
  }
  const found = new Map<number, InstanceContents>();
  const shards = [...groupedBy(rows, ({ id }) => shardOf(id)).values()];
  await inParallel(shards, SHARDS_AT_ONCE, async (of) => {
    const contents = await readTheseContents(manager, of, lists, pageSize);
    of.forEach(({ id }, index) => found.set(id, contents[index] as InstanceContents));
  });
  return rows.map(({ id }) => found.get(id) as InstanceContents);
}

async function readTheseContents(
  manager: EntityManager,
  rows: readonly Pick<InstanceRow, 'id' | 'seq'>[],
  lists: readonly InstanceList[],
  pageSize: number,
): Promise<InstanceContents[]> {
  const asked = filledUp(rows);
  const ids = asked.map(({ id }) => id);
  const [revs, tokens, events, ...children] = await readTogether<
    [Pick<InstanceRow, 'id' | 'rev'>, ShownToken, EventRow, ...ChildHead[]]
  >(manager, [
    revisions(manager, ids),
    shownTokens(manager, ids, pageSize),
    lists.includes('history') ? newestEvents(manager, asked, pageSize) : undefined,
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
    // One that is asked for twice, at two revisions, has those of both.
    events: (eventsOf.get(id) ?? []).toSorted((one, other) => other.seq - one.seq).slice(0, pageSize),
  }));
}
