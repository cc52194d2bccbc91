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

/** Rows of the calls of workflow runs. */
@Injectable()
export class WorkflowCallsRepository {
  /** Whether the run is under way and this attempt of it the last one; keeps it so until the transaction ends. */
  async holdRun(
    manager: EntityManager,
    { id, shard, attempt }: Pick<WorkflowRunEntity, 'id' | 'shard' | 'attempt'>,
  ): Promise<boolean> {
    const underWay = { id, shard, attempt, state: WorkflowRunState.Started };
    return (await RUN_ID.first(manager, underWay, { lock: 'pessimistic_read' })) !== null;
  }

  /** @returns false when there is a call with this key */
  async insert(manager: EntityManager, call: WorkflowCallEntity): Promise<boolean> {
    return insertNew(manager, WorkflowCallEntity, call);
  }

  async find(manager: EntityManager, { runId, shard, callKey }: CallId): Promise<WorkflowCallEntity> {
    return manager.findOneByOrFail(WorkflowCallEntity, { runId, callKey, ...inShard(manager, shard) });
  }

  /** @returns whether the call was still in this state, begun by this attempt */
  async change(
    manager: EntityManager,
    { runId, shard, callKey, state, attempt }: CallId & Pick<WorkflowCallEntity, 'state' | 'attempt'>,
    changes: Partial<WorkflowCallEntity>,
  ): Promise<boolean> {
    const where = { runId, callKey, state, attempt, ...inShard(manager, shard) };
    // A row stays where it is.
    const { shard: _place, ...set } = changes;
    const { affected } = await manager.update(WorkflowCallEntity, where, set);
    return affected === 1;
  }

  /** Ends a call of this attempt. @param response JSON as `storedBytes` makes it @returns whether it was under way */
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

  /** Names of the calls of a run behind one of them, in the order in which they were begun last. */
  async names(manager: EntityManager, runId: string, after: string | undefined): Promise<CallId[]> {
    // Sorting whole rows would need more memory than MySQL gives when responses are large.
    const calls = await NAME.find(manager, { runId }, { order: { startedAt: 'ASC', callKey: 'ASC' } });
    return after === undefined ? calls : calls.slice(calls.findIndex(({ callKey }) => callKey === after) + 1);
  }
}
