import { Injectable } from '@nestjs/common';
import { And, In, type EntityManager } from 'typeorm';
import { EVERY_SHARD, uuidsIn, type TimeRange } from '../../../database/conditions.js';
import { shardOf, shardOfUuid } from '../../../database/shards.js';
import { Table } from '../../../database/table.js';
import { eventsOf, type EventRow } from './events.repository.js';
import { ProcessEventEntity } from './process-event.entity.js';
import { ProcessIncidentEntity } from './process-incident.entity.js';
import { ProcessInstanceEntity } from './process-instance.entity.js';

/** An instance, and how many events its trail has. */
export type InstanceTrailHead = Pick<ProcessInstanceEntity, 'id' | 'state' | 'seq'>;

/** Where an instance has stopped. */
export type StoppedAt = Pick<ProcessIncidentEntity, 'instanceId' | 'state' | 'element'>;

const TRAIL = new Table(ProcessInstanceEntity, { id: shardOf, uuid: shardOfUuid }).select(
  'id',
  'state',
  'seq',
);
const EVENT = new Table(ProcessEventEntity, { instanceId: shardOf }).selectAllBut('shard');
const STOPPED_AT = new Table(ProcessIncidentEntity, { instanceId: shardOf }).select(
  'instanceId',
  'state',
  'element',
);

/** What many instances of one definition did. */
@Injectable()
export class ProcessStatisticsRepository {
  /** Instances that started in a range of time, newest first. */
  async instances(
    manager: EntityManager,
    definitionId: number,
    range: TimeRange,
    limit: number,
  ): Promise<InstanceTrailHead[]> {
    const uuid = uuidsIn(range);
    const where = { definitionId, shard: EVERY_SHARD, ...(uuid.length > 0 && { uuid: And(...uuid) }) };
    return TRAIL.find(manager, where, { order: { uuid: 'DESC' }, limit });
  }

  /** Events of these kinds of several instances, those of each oldest first. */
  async events(
    manager: EntityManager,
    instanceIds: readonly number[],
    kinds: readonly EventRow['kind'][],
  ): Promise<EventRow[]> {
    const where = { instanceId: In([...instanceIds]) };
    // In the order of the primary key, so that no server has to sort.
    const rows = await EVENT.find(manager, where, { order: { instanceId: 'ASC', seq: 'ASC' } });
    return eventsOf(rows).filter(({ kind }) => kinds.includes(kind));
  }

  /** Where instances have stopped, open incidents and closed ones, in no order. */
  async incidents(
    manager: EntityManager,
    instanceIds: readonly number[],
    limit: number,
  ): Promise<StoppedAt[]> {
    return STOPPED_AT.find(manager, { instanceId: In([...instanceIds]) }, { limit });
  }
}
