import { And, In, LessThan, MoreThan } from 'typeorm';
import type { Sender } from '../../store/groups/step-transaction.js';
import type { SelectionPart } from '../../store/tables/selection.js';
import { oneOrAny } from '../../store/tables/conditions.js';
import { shardOf } from '../../store/shards.js';
import { inParts } from '../../store/tables/statement-batches.js';
import { Table } from '../../store/tables/table.js';
import { MOST_EVENTS, packEvents, unpackEvents, type TrailEvent } from './packed-events.js';
import { ProcessEventEntity } from './process-event.entity.js';

/** Who caused events, and in which request. */
export type EventOrigin = Pick<ProcessEventEntity, 'actor' | 'requestId'>;

/** An event as stored. */
export type EventRow = TrailEvent & EventOrigin & Pick<ProcessEventEntity, 'instanceId' | 'at'>;

const EVENTS = new Table(ProcessEventEntity, { instanceId: shardOf });
const SHOWN = EVENTS.selectAllBut('shard');
const REQUEST = EVENTS.select('requestId');
/** How many events are looked through at the most for what led to something. */
const LATEST = 1_000;

type StoredRow = Omit<ProcessEventEntity, 'shard'>;

/**
 * The newest events of instances, and some older ones, for `readTogether`.
 * @param instances with the number of the newest event of each; numbers have no gaps
 */
export function newestEvents(
  manager: Sender,
  instances: readonly { id: number; seq: number }[],
  limit: number,
): SelectionPart<EventRow> {
  const ranges = instances.map(() => '(instance_id = ? AND seq > ?)').join(' OR ');
  const values = instances.flatMap(({ id, seq }) => [id, seq - limit]);
  const shard = oneOrAny(instances.map(({ id }) => shardOf(id)));
  const part = SHOWN.part(manager, { shard }, { and: { sql: `(${ranges})`, values } });
  return { ...part, rows: (raw) => eventsOf(part.rows(raw)) };
}

/** The events that rows hold, row by row. */
export function eventsOf(rows: readonly StoredRow[]): EventRow[] {
  return rows.flatMap(({ instanceId, seq: last, actor, requestId, at, events }) =>
    unpackEvents(events, last).map(({ seq, kind, tokenId, node, data }) => {
      return { instanceId, seq, kind, tokenId, node, data, actor, requestId, at };
    }),
  );
}

export const Events = {
  /** @param events that follow each other */
  async insert(
    manager: Sender,
    { id: instanceId, shard }: { id: number; shard: number },
    events: readonly TrailEvent[],
    { actor, requestId, at }: EventOrigin & { at: Date },
  ): Promise<void> {
    const rows = [...inParts(events, MOST_EVENTS)].map((part) => {
      const seq = part.at(-1)?.seq ?? 0;
      return { instanceId, shard, seq, actor, requestId, at, events: packEvents(part) };
    });
    await EVENTS.insert(manager, rows);
  },

  /** Events after a number, oldest first. */
  async after(manager: Sender, instanceId: number, seq: number, limit: number): Promise<EventRow[]> {
    return (await between(manager, instanceId, seq, seq + limit + 1)).slice(0, limit);
  },

  /** Events of these kinds of several instances, those of each oldest first. */
  async ofKinds(
    manager: Sender,
    instanceIds: readonly number[],
    kinds: readonly EventRow['kind'][],
  ): Promise<EventRow[]> {
    // In the order of the primary key, so that no server has to sort.
    const order = { instanceId: 'ASC', seq: 'ASC' } as const;
    const rows = await SHOWN.find(manager, { instanceId: In([...instanceIds]) }, { order });
    return eventsOf(rows).filter(({ kind }) => kinds.includes(kind));
  },

  /** The newest request that moved an instance, among the latest of its events; null when none of them came of one. */
  async lastRequest(manager: Sender, instanceId: number, seq: number): Promise<string | null> {
    const latest = { instanceId, seq: MoreThan(seq - LATEST), requestId: MoreThan('') };
    return (await REQUEST.first(manager, latest, { order: { seq: 'DESC' }, limit: 1 }))?.requestId ?? null;
  },

  /** Events before a number, newest first. */
  async before(manager: Sender, instanceId: number, seq: number, limit: number): Promise<EventRow[]> {
    return (await between(manager, instanceId, seq - limit - 1, seq)).toReversed();
  },
};

async function between(
  manager: Sender,
  instanceId: number,
  after: number,
  before: number,
): Promise<EventRow[]> {
  // A row has the number of its last event, which may lie behind the range.
  const seq = And(MoreThan(after), LessThan(before + MOST_EVENTS - 1));
  // In the order of the primary key, so that no server has to sort.
  const rows = await SHOWN.find(manager, { instanceId, seq }, { order: { seq: 'ASC' } });
  return eventsOf(rows).filter((event) => event.seq > after && event.seq < before);
}
