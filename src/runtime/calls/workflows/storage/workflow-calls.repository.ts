import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { prepared } from '../../../../store/connection/prepared-statements.js';
import { sendChange } from '../../../../store/tables/row-changes.js';
import { textPlace, textValue } from '../../../../store/tables/column-values.js';
import { andShard, inShard } from '../../../../store/shards.js';
import { sqlTime } from '../../../../store/tables/table-columns.js';
import { CallState } from '../model/call-journal.types.js';
import { WorkflowCallEntity, WorkflowRunEntity } from './workflow-run.entity.js';
import { CALLS, insertNew, RUN_ID } from './workflow-runs.repository.js';
import { WorkflowRunState } from '../model/workflow.types.js';

const NAME = CALLS.select('runId', 'shard', 'callKey');

export type CallId = Pick<WorkflowCallEntity, 'runId' | 'shard' | 'callKey'>;

export type EndedCall = Pick<WorkflowCallEntity, 'outcome' | 'usage'> & {
  readonly finishedAt: Date;
  readonly response: Uint8Array;
};

/** Reads and writes outside calls of workflow runs. */
@Injectable()
export class WorkflowCallsRepository {
  /** Returns whether the run is active and this is its latest attempt; locks that state until the transaction ends. */
  async holdRun(
    manager: EntityManager,
    { id, shard, attempt }: Pick<WorkflowRunEntity, 'id' | 'shard' | 'attempt'>,
  ): Promise<boolean> {
    const underWay = { id, shard, attempt, state: WorkflowRunState.Started };
    return (await RUN_ID.first(manager, underWay, { lock: 'pessimistic_read' })) !== null;
  }

  /** @returns false if a call with this key exists */
  async insert(manager: EntityManager, call: WorkflowCallEntity): Promise<boolean> {
    return insertNew(manager, WorkflowCallEntity, call);
  }

  async find(manager: EntityManager, { runId, shard, callKey }: CallId): Promise<WorkflowCallEntity> {
    return manager.findOneByOrFail(WorkflowCallEntity, { runId, callKey, ...inShard(manager, shard) });
  }

  /** Changes a call if it is still in this state and attempt. @returns whether it was */
  async change(
    manager: EntityManager,
    { runId, shard, callKey, state, attempt }: CallId & Pick<WorkflowCallEntity, 'state' | 'attempt'>,
    changes: Partial<WorkflowCallEntity>,
  ): Promise<boolean> {
    const where = { runId, callKey, state, attempt, ...inShard(manager, shard) };
    // The shard of a row never changes.
    const { shard: _place, ...set } = changes;
    const { affected } = await manager.update(WorkflowCallEntity, where, set);
    return affected === 1;
  }

  /** Finishes a call of this attempt. @param response result of `storedBytes` @returns whether the call was active */
  async finish(
    manager: EntityManager,
    { runId, shard, callKey, attempt }: CallId & Pick<WorkflowCallEntity, 'attempt'>,
    { outcome, usage, finishedAt, response }: EndedCall,
  ): Promise<boolean> {
    const place = andShard(manager, shard);
    const changed = await sendChange(manager, {
      sql: prepared(
        `UPDATE workflow_calls SET state = ?, outcome = ?, \`usage\` = ?, finished_at = ?, response = ${textPlace(manager)} ` +
          `WHERE run_id = ? AND call_key = ? AND attempt = ? AND state = ?${place.sql}`,
      ),
      values: [
        CallState.Done,
        outcome,
        usage && JSON.stringify(usage),
        sqlTime(finishedAt),
        textValue(manager, response),
        runId,
        callKey,
        attempt,
        CallState.Claimed,
        ...place.values,
      ],
    });
    return changed === 1;
  }

  /** Returns the ids of the calls of a run after one of them, in the order of their last start. */
  async names(manager: EntityManager, runId: string, after: string | undefined): Promise<CallId[]> {
    // Reads ids only, because sorting rows with large responses would exceed the sort buffer of MySQL.
    const calls = await NAME.find(manager, { runId }, { order: { startedAt: 'ASC', callKey: 'ASC' } });
    return after === undefined ? calls : calls.slice(calls.findIndex(({ callKey }) => callKey === after) + 1);
  }
}
