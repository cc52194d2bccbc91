import { Injectable } from '@nestjs/common';
import {
  And,
  In,
  LessThan,
  Not,
  type EntityManager,
  type ObjectLiteral,
  type QueryDeepPartialEntity,
  type SelectQueryBuilder,
} from 'typeorm';
import type { SomeApps } from '../../../common/user/grant.js';
import { appCondition, uuidsIn } from '../../../database/conditions.js';
import { isDuplicate } from '../../../database/driver-errors.js';
import { Database } from '../../../database/database.js';
import { inShard, shardOfUuid } from '../../../database/shards.js';
import {
  LISTED,
  WorkflowCallEntity,
  WorkflowRunEntity,
  type ListedRun,
  type RunDetails,
  type WorkflowRunQuery,
} from './workflow-run.entity.js';
import { CallState } from '../model/call-journal.types.js';
import { WorkflowRunState, type WorkflowRunError } from '../model/workflow.types.js';

/** Reads workflow runs. */
@Injectable()
export class WorkflowRunsRepository {
  constructor(private readonly database: Database) {}

  /** @param apps only when the build of the run is of one of these applications; null for whichever */
  async find(id: string, apps: SomeApps | null): Promise<RunDetails | null> {
    const row = await this.database.read((manager) => {
      const where = { id, ...inShard(manager, shardOfUuid(id)) };
      return ofApps(manager.createQueryBuilder(WorkflowRunEntity, 'run').where(where), apps).getOne();
    });
    return row && { ...row, nodes: row.nodes ?? '[]', output: row.output ?? 'null' };
  }

  /** Id of the run that has a key; null when there is none. */
  async idOf(runKey: string, shard: number): Promise<string | null> {
    const found = await this.database.read((manager) => {
      const where = { runKey, ...inShard(manager, shard) };
      return manager.findOne(WorkflowRunEntity, { select: { id: true }, where });
    });
    return found?.id ?? null;
  }

  /** Why runs failed, by their ids, in the caller's reading; those that have not failed are missing. */
  async failures(
    manager: EntityManager,
    runs: readonly { id: string; shard: number }[],
  ): Promise<ReadonlyMap<string, WorkflowRunError>> {
    if (runs.length === 0) {
      return new Map();
    }
    const shards = runs.map(({ shard }) => shard);
    const where = { id: In(runs.map(({ id }) => id)), state: WorkflowRunState.Failed };
    const found = await manager.find(WorkflowRunEntity, {
      select: { id: true, error: true },
      where: { ...where, ...inShard(manager, shards) },
    });
    return new Map(found.flatMap(({ id, error }) => (error === null ? [] : [[id, error]])));
  }

  /** Lets the calls of unknown outcome be made once more: those of the run and of its subworkflows. */
  async releaseCalls(manager: EntityManager, runKey: string, shard: number): Promise<void> {
    for await (const ids of runGenerations(manager, runKey, shard)) {
      await manager.update(
        WorkflowCallEntity,
        { runId: In(ids), state: CallState.Unknown, ...inShard(manager, shard) },
        { state: CallState.Released },
      );
    }
  }

  /** Whether a call that may not be made twice had an effect, or may have had one: of the run or of its subworkflows. */
  async hasLastingCalls(manager: EntityManager, runKey: string, shard: number): Promise<boolean> {
    for await (const ids of runGenerations(manager, runKey, shard)) {
      const place = inShard(manager, shard);
      const lasting = { runId: In(ids), repeatable: 0, state: Not(CallState.Failed), ...place };
      if (await manager.existsBy(WorkflowCallEntity, lasting)) {
        return true;
      }
    }
    return false;
  }

  /** Runs, newest first, at most `limit`, of builds of these applications; null for all. */
  async page(query: WorkflowRunQuery, apps: SomeApps | null, limit: number): Promise<ListedRun[]> {
    const { state, processInstanceUuid, parentRunId, workflow, before } = query;
    const bounds = [...uuidsIn(query), ...(before === undefined ? [] : [LessThan(before)])];
    const id = bounds.length === 0 ? undefined : And(...bounds);
    return this.database.read((manager) => {
      const select = manager
        .createQueryBuilder(WorkflowRunEntity, 'run')
        .select(LISTED.map((column) => `run.${column}`))
        .where(given({ id, state, processInstanceUuid, parentRunId, workflow }))
        .orderBy('run.id', 'DESC')
        .limit(limit);
      return ofApps(select, apps).getMany();
    });
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

/** @returns false when there is a row with this key */
export async function insertNew<Row extends ObjectLiteral>(
  manager: EntityManager,
  entity: new () => Row,
  row: QueryDeepPartialEntity<Row>,
): Promise<boolean> {
  try {
    // Without a reading of what defaults would have given.
    await manager.createQueryBuilder().insert().into(entity).values(row).updateEntity(false).execute();
    return true;
  } catch (error) {
    if (isDuplicate(error)) {
      return false;
    }
    throw error;
  }
}
