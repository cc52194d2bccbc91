import { Injectable } from '@nestjs/common';
import { LessThan, MoreThan, type EntityManager } from 'typeorm';
import type { SelectionPart } from '../../../database/selection.js';
import { oneOrAny } from '../../../database/conditions.js';
import { shardOf } from '../../../database/shards.js';
import { Table } from '../../../database/table.js';
import { ProcessEventEntity } from './process-event.entity.js';

/** An event to store. */
export type NewEvent = Pick<ProcessEventEntity, 'seq' | 'kind' | 'tokenId' | 'node' | 'data'>;

/** Who caused events, and in which request. */
export type EventOrigin = Pick<ProcessEventEntity, 'actor' | 'requestId'>;

/** An event as stored. */
export type EventRow = NewEvent & EventOrigin & Pick<ProcessEventEntity, 'instanceId' | 'at'>;

const EVENTS = new Table(ProcessEventEntity, { instanceId: shardOf });
const SHOWN = EVENTS.selectAllBut('shard');

/**
 * The newest events of instances, for `readTogether`.
 * @param instances with the number of the newest event of each; numbers have no gaps
 */
export function newestEvents(
  manager: EntityManager,
  instances: readonly { id: number; seq: number }[],
  limit: number,
): SelectionPart<EventRow> {
  const ranges = instances.map(() => '(instance_id = ? AND seq > ?)').join(' OR ');
  const values = instances.flatMap(({ id, seq }) => [id, seq - limit]);
  const shard = oneOrAny(instances.map(({ id }) => shardOf(id)));
  return SHOWN.part(manager, { shard }, { and: { sql: `(${ranges})`, values } });
}

/** The audit trails of instances. */
@Injectable()
export class EventsRepository {
  async insert(
    manager: EntityManager,
    { id: instanceId, shard }: { id: number; shard: number },
    events: readonly NewEvent[],
    { actor, requestId, at }: EventOrigin & { at: Date },
  ): Promise<void> {
    // Member by member: spreading costs more than all else that is done for an event.
    const rows = events.map(({ seq, kind, tokenId, node, data }) => {
      return { instanceId, shard, seq, kind, tokenId, node, data, actor, requestId, at };
    });
    await EVENTS.insert(manager, rows);
  }

  /** Events after a number, oldest first. */
  async after(manager: EntityManager, instanceId: number, seq: number, limit: number): Promise<EventRow[]> {
    // In the order of the primary key, so that no server has to sort.
    return SHOWN.find(manager, { instanceId, seq: MoreThan(seq) }, { order: { seq: 'ASC' }, limit });
  }

  /** Events before a number, newest first. */
  async before(manager: EntityManager, instanceId: number, seq: number, limit: number): Promise<EventRow[]> {
    return SHOWN.find(manager, { instanceId, seq: LessThan(seq) }, { order: { seq: 'DESC' }, limit });
  }
}
