import { Injectable } from '@nestjs/common';
import { In, Not, type EntityManager, type ObjectLiteral, type SelectQueryBuilder } from 'typeorm';
import { firstUuidAt } from '../../../common/ordered-uuid.js';
import type { SomeApps } from '../../../common/user/grant.js';
import { appCondition } from '../../../database/conditions.js';
import { isDuplicate } from '../../../database/driver-errors.js';
import { inShard, shardOfUuid } from '../../../database/shards.js';
import { WorkflowRunEntity } from './workflow-run.entity.js';
import { runGenerations } from './run-generations.js';
import { WorkflowRunState, type ListedRun, type WorkflowRunQuery } from '../model/workflow.types.js';

/** What a list shows of a run: without what its nodes did, which may be large. */
const LISTED = [
  'id',
  'buildId',
  'appId',
  'workflow',
  'state',
  'origin',
  'processInstanceUuid',
  'parentRunId',
  'startedAt',
  'finishedAt',
  'error',
  'errorCode',
] as const satisfies (keyof ListedRun)[];

/** Rows of workflow runs. */
@Injectable()
export class WorkflowRunsRepository {
  /** @returns false when there is a run with this key */
  async insert(manager: EntityManager, run: WorkflowRunEntity): Promise<boolean> {
    try {
      // Without a reading of what defaults would have given.
      const insert = manager.createQueryBuilder().insert().into(WorkflowRunEntity);
      await insert.values(run).updateEntity(false).execute();
      return true;
    } catch (error) {
      if (isDuplicate(error)) {
        return false;
      }
      throw error;
    }
  }

  /**
   * Begins a run again unless it has finished or was cancelled. From then on whoever began it before stores nothing more.
   * @returns the run as it is now
   */
  async reopen(manager: EntityManager, runKey: string, shard: number): Promise<WorkflowRunEntity> {
    const changes: ObjectLiteral = {
      state: WorkflowRunState.Started,
      finishedAt: null,
      error: null,
      nodes: null,
    };
    await manager.update(
      WorkflowRunEntity,
      {
        runKey,
        state: Not(In([WorkflowRunState.Finished, WorkflowRunState.Cancelled])),
        ...inShard(manager, shard),
      },
      { ...changes, attempt: () => 'attempt + 1' },
    );
    return manager.findOneByOrFail(WorkflowRunEntity, { runKey, ...inShard(manager, shard) });
  }

  /** Stores how a run ended, unless it was begun again meanwhile. */
  async end(
    manager: EntityManager,
    { id, shard, attempt }: Pick<WorkflowRunEntity, 'id' | 'shard' | 'attempt'>,
    changes: Pick<WorkflowRunEntity, 'state' | 'finishedAt' | 'error' | 'errorCode' | 'nodes' | 'output'>,
  ): Promise<void> {
    await manager.update(WorkflowRunEntity, { id, attempt, ...inShard(manager, shard) }, changes);
  }

  /** Ends a run that has not ended, or was only interrupted, and the runs of its subworkflows that have not either. */
  async giveUp(
    manager: EntityManager,
    { runKey, shard }: Pick<WorkflowRunEntity, 'runKey' | 'shard'>,
    changes: Pick<WorkflowRunEntity, 'error' | 'finishedAt'>,
  ): Promise<void> {
    const state = Not(In([WorkflowRunState.Finished, WorkflowRunState.Cancelled]));
    for await (const ids of runGenerations(manager, runKey, shard)) {
      await manager.update(
        WorkflowRunEntity,
        { id: In(ids), state, ...inShard(manager, shard) },
        { ...(changes as ObjectLiteral), state: WorkflowRunState.Failed, attempt: () => 'attempt + 1' },
      );
    }
  }

  /** Ends the runs of tokens that have not ended yet. From then on whoever began them stores nothing more. */
  async endOfTokens(
    manager: EntityManager,
    {
      processInstanceUuid,
      shard,
      processTokenIds,
    }: { processInstanceUuid: string; shard: number; processTokenIds: readonly number[] },
    changes: Pick<WorkflowRunEntity, 'state' | 'finishedAt' | 'error'>,
  ): Promise<void> {
    if (processTokenIds.length > 0) {
      await manager.update(
        WorkflowRunEntity,
        {
          processInstanceUuid,
          processTokenId: In([...processTokenIds]),
          state: WorkflowRunState.Started,
          ...inShard(manager, shard),
        },
        { ...changes, attempt: () => 'attempt + 1' },
      );
    }
  }

  /** @param apps only when the build of the run is of one of these applications; null for whichever */
  async findById(
    manager: EntityManager,
    id: string,
    apps: SomeApps | null,
  ): Promise<WorkflowRunEntity | null> {
    const where = { id, ...inShard(manager, shardOfUuid(id)) };
    return ofApps(manager.createQueryBuilder(WorkflowRunEntity, 'run').where(where), apps).getOne();
  }

  /** Id of the run that has a key; null when there is none. */
  async idOf(manager: EntityManager, runKey: string, shard: number): Promise<string | null> {
    const where = { runKey, ...inShard(manager, shard) };
    return (await manager.findOne(WorkflowRunEntity, { select: { id: true }, where }))?.id ?? null;
  }

  /** Those of these runs that have failed, with the reason. */
  async failed(
    manager: EntityManager,
    runs: readonly { id: string; shard: number }[],
  ): Promise<Pick<WorkflowRunEntity, 'id' | 'error'>[]> {
    const shards = inShard(
      manager,
      runs.map(({ shard }) => shard),
    );
    const where = { id: In(runs.map(({ id }) => id)), state: WorkflowRunState.Failed, ...shards };
    return manager.find(WorkflowRunEntity, { select: { id: true, error: true }, where });
  }

  /**
   * Runs, newest first, at most `limit`.
   * @param apps only runs of builds of these applications; null for all
   */
  async page(
    manager: EntityManager,
    query: WorkflowRunQuery,
    apps: SomeApps | null,
    limit: number,
  ): Promise<ListedRun[]> {
    const { state, processInstanceUuid, parentRunId, workflow, from, to, before } = query;
    const select = manager
      .createQueryBuilder(WorkflowRunEntity, 'run')
      .select(LISTED.map((column) => `run.${column}`))
      .where(given({ state, processInstanceUuid, parentRunId, workflow }))
      .orderBy('run.id', 'DESC')
      .limit(limit);
    if (before !== undefined) {
      select.andWhere('run.id < :before', { before });
    }
    if (from !== undefined) {
      select.andWhere('run.id >= :from', { from: firstUuidAt(from) });
    }
    if (to !== undefined) {
      select.andWhere('run.id < :to', { to: firstUuidAt(to) });
    }
    return ofApps(select, apps).getMany();
  }
}

function given(filters: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined));
}

function ofApps<Row extends ObjectLiteral>(
  select: SelectQueryBuilder<Row>,
  apps: SomeApps | null,
): SelectQueryBuilder<Row> {
  if (apps === null) {
    return select;
  }
  const values: Record<string, string> = {};
  const condition = appCondition(select.connection, 'build.app_id', apps, (value) => {
    const name = `app${Object.keys(values).length}`;
    values[name] = value;
    return `:${name}`;
  });
  const builds = `SELECT build.build_id FROM builds build WHERE ${condition}`;
  return select.andWhere(`run.buildId IN (${builds})`, values);
}
