import { Injectable } from '@nestjs/common';
import type { SqlExecutor } from '../../../../store/groups/shared-transaction.js';
import { withoutUndefined } from '../../../../platform/without-undefined.js';
import {
  And,
  In,
  LessThan,
  type EntityManager,
  type ObjectLiteral,
  type QueryDeepPartialEntity,
} from 'typeorm';
import type { SomeApps } from '../../../../platform/user/grant.js';
import { EVERY_SHARD, inApps, uuidsIn, type Condition } from '../../../../store/tables/conditions.js';
import { isDuplicate } from '../../../../store/connection/driver-errors.js';
import { Database } from '../../../../store/database.js';
import { shardOfUuid } from '../../../../store/shards.js';
import { Table } from '../../../../store/tables/table.js';
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

export const RUNS = new Table(WorkflowRunEntity, { id: shardOfUuid });
export const CALLS = new Table(WorkflowCallEntity, { runId: shardOfUuid });
export const RUN_ID = RUNS.select('id');
const LISTED_RUN = RUNS.select(...LISTED);
const DETAILS = RUNS.select(...LISTED, 'nodes', 'output');
const FAILURE = RUNS.select('id', 'error');
const CALL_KEY = CALLS.select('callKey');
/** States of calls that had or may have had an effect. */
const EFFECTIVE = Object.values(CallState).filter((state) => state !== CallState.Failed);

/** Reads workflow runs. */
@Injectable()
export class WorkflowRunsRepository {
  constructor(private readonly database: Database) {}

  /** Finds a run of a build of these applications. @param apps null for all */
  async find(id: string, apps: SomeApps | null): Promise<RunDetails | null> {
    const row = await this.database.read((manager) =>
      DETAILS.first(manager, { id }, { and: ofApps(manager, apps) }),
    );
    return row && { ...row, nodes: row.nodes ?? '[]', output: row.output ?? 'null' };
  }

  /** Returns the id of the run with a key; null if there is none. */
  async idOf(runKey: string, shard: number): Promise<string | null> {
    return (await this.database.read((manager) => RUN_ID.first(manager, { runKey, shard })))?.id ?? null;
  }

  /** Returns the errors of failed runs by id, in the caller's transaction; other runs are missing. */
  async failures(
    manager: EntityManager,
    runs: readonly { id: string }[],
  ): Promise<ReadonlyMap<string, WorkflowRunError>> {
    const where = { id: In(runs.map(({ id }) => id)), state: WorkflowRunState.Failed };
    const found = await FAILURE.find(manager, where);
    return new Map(found.flatMap(({ id, error }) => (error === null ? [] : [[id, error]])));
  }

  /** Releases calls with unknown outcome of a run and its subworkflows, so that a retry repeats them. */
  async releaseCalls(executor: SqlExecutor, runKey: string, shard: number): Promise<void> {
    for await (const ids of runGenerations(executor, runKey, shard)) {
      const unknown = { runId: In(ids), shard, state: CallState.Unknown };
      await CALLS.update(executor, unknown, { state: CallState.Released });
    }
  }

  /** Whether the run or a subworkflow made a call that must not be repeated and that had or may have had an effect. */
  async hasLastingCalls(executor: SqlExecutor, runKey: string, shard: number): Promise<boolean> {
    for await (const ids of runGenerations(executor, runKey, shard)) {
      const lasting = { runId: In(ids), shard, repeatable: 0, state: In(EFFECTIVE) };
      if ((await CALL_KEY.find(executor, lasting, { limit: 1 })).length > 0) {
        return true;
      }
    }
    return false;
  }

  /** Returns runs of these applications, newest first. @param apps null for all */
  async page(query: WorkflowRunQuery, apps: SomeApps | null, limit: number): Promise<ListedRun[]> {
    const { state, processInstanceUuid, parentRunId, workflow, before } = query;
    const ids = [...uuidsIn(query), ...(before === undefined ? [] : [LessThan(before)])];
    const id = ids.length === 0 ? undefined : And(...ids);
    const where = withoutUndefined({
      id,
      state,
      processInstanceUuid,
      parentRunId,
      workflow,
      shard: EVERY_SHARD,
    });
    return this.database.read((manager) =>
      LISTED_RUN.find(manager, where, { order: { id: 'DESC' }, limit, and: ofApps(manager, apps) }),
    );
  }
}

/** Returns the condition for runs of these applications. @param apps null for all */
export function ofApps(manager: EntityManager, apps: SomeApps | null): Condition {
  const { sql, values } = inApps(manager, 'build.app_id', apps);
  return sql === ''
    ? { sql, values }
    : { sql: `build_id IN (SELECT build.build_id FROM builds build WHERE ${sql})`, values };
}

/** Yields the ids of a run, then of its subworkflows level by level; nothing if there is no run with this key. */
export async function* runGenerations(
  executor: SqlExecutor,
  runKey: string,
  shard: number,
): AsyncGenerator<string[]> {
  let runs = await RUN_ID.find(executor, { runKey, shard });
  while (runs.length > 0) {
    const ids = runs.map(({ id }) => id);
    yield ids;
    runs = await RUN_ID.find(executor, { parentRunId: In(ids), shard });
  }
}

/** Inserts a row. @returns false if a row with this key exists */
export async function insertNew<Row extends ObjectLiteral>(
  manager: EntityManager,
  entity: new () => Row,
  row: QueryDeepPartialEntity<Row>,
): Promise<boolean> {
  try {
    // Skips reading back default values.
    await manager.createQueryBuilder().insert().into(entity).values(row).updateEntity(false).execute();
    return true;
  } catch (error) {
    if (isDuplicate(error)) {
      return false;
    }
    throw error;
  }
}
