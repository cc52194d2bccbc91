import { In, type EntityManager } from 'typeorm';
import { inShard } from '../../../database/shards.js';
import { WorkflowRunEntity } from './workflow-run.entity.js';

/** Ids of a run, then of its subworkflows, then of theirs; none when there is no run with this key. */
export async function* runGenerations(
  manager: EntityManager,
  runKey: string,
  shard: number,
): AsyncGenerator<string[]> {
  const select = { id: true } as const;
  let runs = await manager.find(WorkflowRunEntity, { where: { runKey, ...inShard(manager, shard) }, select });
  while (runs.length > 0) {
    const ids = runs.map(({ id }) => id);
    yield ids;
    runs = await manager.find(WorkflowRunEntity, {
      where: { parentRunId: In(ids), ...inShard(manager, shard) },
      select,
    });
  }
}
