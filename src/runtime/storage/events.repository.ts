import { And, In, LessThan, MoreThan } from 'typeorm';
import type { SqlExecutor } from '../../store/groups/shared-transaction.js';
import type { SelectionPart } from '../../store/tables/selection.js';
import { oneOrAny } from '../../store/tables/conditions.js';
import { shardOf } from '../../store/shards.js';
import { inParts } from '../../store/tables/statement-batches.js';
import { Table } from '../../store/tables/table.js';
import { MAX_EVENTS, packEvents, unpackEvents, type TrailEvent } from './packed-events.js';
import { ProcessEventEntity } from './process-event.entity.js';

/** User and request that caused events. */
export type EventOrigin = Pick<ProcessEventEntity, 'actor' | 'requestId'>;

/** Stored event. */
export type EventRow = TrailEvent & EventOrigin & Pick<ProcessEventEntity, 'instanceId' | 'at'>;

const EVENTS = new Table(ProcessEventEntity, { instanceId: shardOf });
const SHOWN = EVENTS.selectAllBut('shard');
const REQUEST = EVENTS.select('requestId');
/** Maximum number of events searched for the last request. */
const LATEST = 1_000;

type StoredRow = Omit<ProcessEventEntity, 'shard'>;

/**
 * Selects the newest events of instances, and a few older ones, for `readTogether`.
 * @param instances ids with the number of the newest event; numbers have no gaps
 */
export function newestEvents(
  executor: SqlExecutor,
  instances: readonly { id: number; seq: number }[],
  limit: number,
): SelectionPart<EventRow> {
  const ranges = instances.map(() => '(instance_id = ? AND seq > ?)').join(' OR ');
  const values = instances.flatMap(({ id, seq }) => [id, seq - limit]);
  const shard = oneOrAny(instances.map(({ id }) => shardOf(id)));
  const part = SHOWN.part(executor, { shard }, { and: { sql: `(${ranges})`, values } });
  return { ...part, rows: (raw) => eventsOf(part.rows(raw)) };
}

/** Unpacks the events of rows. */
export function eventsOf(rows: readonly StoredRow[]): EventRow[] {
  return rows.flatMap(({ instanceId, seq: last, actor, requestId, at, events }) =>
    unpackEvents(events, last).map(({ seq, kind, tokenId, node, data }) => {
      return { instanceId, seq, kind, tokenId, node, data, actor, requestId, at };
    }),
  );
}

export const Events = {
  /** @param events consecutive events */
  async insert(
    executor: SqlExecutor,
    { id: instanceId, shard }: { id: number; shard: number },
    events: readonly TrailEvent[],
    { actor, requestId, at }: EventOrigin & { at: Date },
  ): Promise<void> {
    const rows = [...inParts(events, MAX_EVENTS)].map((part) => {
      const seq = part.at(-1)?.seq ?? 0;
      return { instanceId, shard, seq, actor, requestId, at, events: packEvents(part) };
    });
    await EVENTS.insert(executor, rows);
  },

  /** Returns events after a number, oldest first. */
  async after(executor: SqlExecutor, instanceId: number, seq: number, limit: number): Promise<EventRow[]> {
    return (await between(executor, instanceId, seq, seq + limit + 1)).slice(0, limit);
  },

  /** Returns events of these kinds, oldest first for each instance. */
  async ofKinds(
    executor: SqlExecutor,
    instanceIds: readonly number[],
    kinds: readonly EventRow['kind'][],
  ): Promise<EventRow[]> {
    // Primary key order, so that the server need not sort.
    const order = { instanceId: 'ASC', seq: 'ASC' } as const;
    const rows = await SHOWN.find(executor, { instanceId: In([...instanceIds]) }, { order });
    return eventsOf(rows).filter(({ kind }) => kinds.includes(kind));
  },

  /** Returns the newest request among the latest events of an instance; null if none came from a request. */
  async lastRequest(executor: SqlExecutor, instanceId: number, seq: number): Promise<string | null> {
    const latest = { instanceId, seq: MoreThan(seq - LATEST), requestId: MoreThan('') };
    return (await REQUEST.first(executor, latest, { order: { seq: 'DESC' }, limit: 1 }))?.requestId ?? null;
  },

  /** Returns events before a number, newest first. */
  async before(executor: SqlExecutor, instanceId: number, seq: number, limit: number): Promise<EventRow[]> {
    return (await between(executor, instanceId, seq - limit - 1, seq)).toReversed();
  },
};

async function between(
  executor: SqlExecutor,
  instanceId: number,
  after: number,
  before: number,
): Promise<EventRow[]> {
  // A row is stored under the number of its last event, which may be beyond the range.
  const seq = And(MoreThan(after), LessThan(before + MAX_EVENTS - 1));
  // Primary key order, so that the server need not sort.
  const rows = await SHOWN.find(executor, { instanceId, seq }, { order: { seq: 'ASC' } });
  return eventsOf(rows).filter((event) => event.seq > after && event.seq < before);
}
