import type { EntityManager } from 'typeorm';
import { EVERY_SHARD } from '../../../database/conditions.js';
import { shardOf, shardOfUuid } from '../../../database/shards.js';
import { Table } from '../../../database/table.js';
import type { InstanceStatus } from '../engine/state/engine.types.js';
import { ProcessInstanceEntity } from './process-instance.entity.js';

const PLACE = new Table(ProcessInstanceEntity, { id: shardOf, uuid: shardOfUuid }).select('id', 'uuid');

/** Ids of instances of a build in one of these states. */
export async function instancesOfBuild(
  manager: EntityManager,
  { appId, buildId }: { appId: string; buildId: string },
  states: readonly InstanceStatus[],
  limit: number,
): Promise<number[]> {
  const found: { id: number; uuid: string }[] = [];
  for (const state of states) {
    const where = { shard: EVERY_SHARD, appId, state, buildId };
    found.push(...(await PLACE.find(manager, where, { order: { uuid: 'ASC' }, limit })));
  }
  return found.map(({ id }) => id);
}
