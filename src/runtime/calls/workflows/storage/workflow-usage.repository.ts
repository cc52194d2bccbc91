import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { firstUuidAt } from '../../../../platform/ordered-uuid.js';
import type { SomeApps } from '../../../../platform/user/grant.js';
import { allOf, storableTime } from '../../../../store/tables/conditions.js';
import { ofApps } from './workflow-runs.repository.js';
import { toJson, type RawRow } from '../../../../store/tables/column-values.js';
import { sameShard } from '../../../../store/shards.js';
import { sqlTime } from '../../../../store/tables/table-columns.js';
import { CallKind, type CallUsage } from '../model/call-journal.types.js';
import { WorkflowRunState } from '../model/workflow.types.js';

/** Runs and calls to include. */
export interface UsageScope {
  /** Inclusive. */
  readonly from: Date;
  /** Exclusive. */
  readonly to: Date;
  /** Only runs of builds of these applications; null for all. */
  readonly apps: SomeApps | null;
}

/** Model call; `usage` is null until reported. */
export interface ModelCall {
  readonly runId: string;
  readonly usage: CallUsage | null;
}

const STATES = Object.values(WorkflowRunState);

/** Reads the usage of workflow runs. */
@Injectable()
export class WorkflowUsageRepository {
  /** Returns model calls started in a time range, newest first. */
  async modelCalls(manager: EntityManager, scope: UsageScope, limit: number): Promise<ModelCall[]> {
    const { sql, values } = allOf([
      { sql: 'c.kind = ?', values: [CallKind.Model] },
      { sql: 'c.started_at >= ? AND c.started_at < ?', values: [timeOf(scope.from), timeOf(scope.to)] },
      ofApps(manager, scope.apps),
    ]);
    const runs =
      scope.apps === null
        ? ''
        : ` JOIN workflow_runs run ON run.id = c.run_id${sameShard(manager, 'run', 'c')}`;
    const rows = await manager.query<RawRow[]>(
      `SELECT c.run_id AS run_id, c.\`usage\` AS used FROM workflow_calls c${runs} WHERE ${sql} ORDER BY c.started_at DESC LIMIT ?`,
      [...values, limit],
    );
    return rows.map(({ run_id: runId, used }) => ({
      runId: String(runId),
      usage: used === null ? null : (toJson(used) as CallUsage),
    }));
  }

  /** Counts runs started in a time range by state; states without runs are missing. */
  async runs(manager: EntityManager, scope: UsageScope): Promise<Map<WorkflowRunState, number>> {
    // Lists all states because the index has the state before the id.
    const { sql, values } = allOf([
      { sql: `run.state IN (${STATES.map(() => '?').join(', ')})`, values: STATES },
      { sql: 'run.id >= ? AND run.id < ?', values: [firstUuidAt(scope.from), firstUuidAt(scope.to)] },
      ofApps(manager, scope.apps),
    ]);
    const rows = await manager.query<RawRow[]>(
      `SELECT run.state AS state, COUNT(*) AS amount FROM workflow_runs run WHERE ${sql} GROUP BY run.state`,
      values,
    );
    return new Map(rows.map(({ state, amount }) => [state as WorkflowRunState, Number(amount)]));
  }
}

function timeOf(moment: Date): string {
  return sqlTime(storableTime(moment));
}
