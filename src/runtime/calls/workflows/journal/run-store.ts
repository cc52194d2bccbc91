import { Injectable } from '@nestjs/common';
import { In, type EntityManager } from 'typeorm';
import type { SqlExecutor } from '../../../../store/groups/shared-transaction.js';
import type { JsonValue } from '#engine/json';
import { Clock } from '../../../../platform/clock.js';
import { orderedUuid } from '../../../../platform/ordered-uuid.js';
import { Log } from '../../../../platform/observability/logging/log.js';
import { Database } from '../../../../store/database.js';
import { WorkflowRunEntity } from '../storage/workflow-run.entity.js';
import type { RunJournal } from './run-journal.js';
import { insertNew, runGenerations, RUNS } from '../storage/workflow-runs.repository.js';
import { WorkflowRunState, type RunResult, type WorkflowRunError } from '../model/workflow.types.js';
import { WorkflowFailedError } from '../model/workflows.errors.js';

/** Columns of a new run. */
export type NewRun = Pick<
  WorkflowRunEntity,
  'buildId' | 'appId' | 'workflow' | 'origin' | 'processInstanceUuid' | 'processTokenId' | 'parentRunId'
> & { runKey: string | undefined; shard: number };

/** Instance whose tokens wait for runs. */
export type RunOwner = Pick<WorkflowRunEntity, 'processInstanceUuid' | 'shard'>;

/** Started run; `result` is set if an earlier attempt has finished. */
export interface BegunRun {
  readonly id: string;
  readonly shard: number;
  readonly attempt: number;
  readonly result?: RunResult;
}

const INTERRUPTED: WorkflowRunError = {
  code: 'WORKFLOW_INTERRUPTED',
  node: null,
  message: 'The run was interrupted. It restarts when its job is retried.',
  details: null,
};

const ABANDONED: WorkflowRunError = {
  ...INTERRUPTED,
  message: 'The run was interrupted too often. It will not be restarted.',
};

const ALL = RUNS.selectAllBut();
/** States of runs that may be restarted. */
const restartable = () => In([WorkflowRunState.Started, WorkflowRunState.Failed]);
const nextAttempt = () => 'attempt + 1';

const noHold = (): Promise<void> => Promise.resolve();

/** Stores runs. The unique run key ensures that each piece of work has only one run. */
@Injectable()
export class RunStore {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /** Starts a new run or the next attempt of an existing one. @param hold see WorkflowRunRequest.hold */
  async begin(run: NewRun, hold: (manager: EntityManager) => Promise<void> = noHold): Promise<BegunRun> {
    const row = this.rowOf(run);
    const { id, shard, runKey } = row;
    const isNew = await this.database.write(async (manager) => {
      await hold(manager);
      return insertNew(manager, WorkflowRunEntity, row);
    });
    if (isNew) {
      return { id, shard, attempt: 1 };
    }
    const stored = await this.database.write(async (manager) => {
      await hold(manager);
      return startNextAttempt(manager, runKey, shard);
    });
    const begun = { id: stored.id, shard: stored.shard, attempt: stored.attempt };
    if (stored.state !== WorkflowRunState.Finished || stored.output === null) {
      return begun;
    }
    const output = JSON.parse(stored.output) as JsonValue;
    return { ...begun, result: { output, errorCode: stored.errorCode } };
  }

  /** Stores a run that a job will start, in the transaction that adds the job. @param row result of `rowOf` */
  async open(manager: EntityManager, row: WorkflowRunEntity): Promise<void> {
    await insertNew(manager, WorkflowRunEntity, row);
  }

  /** Fails an abandoned run and its subworkflows, unless they have ended. */
  async giveUp(manager: EntityManager, runKey: string, shard: number): Promise<void> {
    const changes = { error: ABANDONED, finishedAt: this.clock.now(), state: WorkflowRunState.Failed };
    for await (const ids of runGenerations(manager, runKey, shard)) {
      await RUNS.update(
        manager,
        { id: In(ids), shard, state: restartable() },
        { ...changes, attempt: nextAttempt },
      );
    }
  }

  async finish(run: BegunRun, journal: RunJournal, { output, errorCode }: RunResult): Promise<void> {
    const state = WorkflowRunState.Finished;
    await this.end(run, journal, { state, error: null, errorCode, output: JSON.stringify(output) });
  }

  /** Stores why a run failed. Logs an error instead of throwing it, so that the caller can throw the cause. */
  async fail(run: BegunRun, journal: RunJournal, cause: unknown): Promise<void> {
    const error = cause instanceof WorkflowFailedError ? cause.toRecord() : INTERRUPTED;
    try {
      const state = WorkflowRunState.Failed;
      await this.end(run, journal, { state, error, errorCode: null, output: null });
    } catch (failure) {
      this.log.error('workflow run was not stored', failure, { workflowRunId: run.id, code: error.code });
    }
  }

  /** Cancels the runs of tokens in the caller's transaction. Their workers can store nothing more. */
  async cancel(executor: SqlExecutor, owner: RunOwner, processTokenIds: readonly number[]): Promise<void> {
    const changes = { state: WorkflowRunState.Cancelled, finishedAt: this.clock.now(), error: null };
    await endOfTokens(executor, owner, processTokenIds, changes);
  }

  /** Fails runs of a token that died with their workers; only a person can restart them. */
  async abandon(owner: RunOwner, processTokenId: number): Promise<void> {
    const changes = { state: WorkflowRunState.Failed, finishedAt: this.clock.now(), error: INTERRUPTED };
    await this.database.write((manager) => endOfTokens(manager, owner, [processTokenId], changes));
  }

  /** Creates the row of a run that starts now, with a new id. */
  rowOf(run: NewRun): WorkflowRunEntity {
    const startedAt = this.clock.now();
    const id = orderedUuid(startedAt, run.shard);
    return {
      ...run,
      id,
      runKey: run.runKey ?? id,
      attempt: 1,
      state: WorkflowRunState.Started,
      startedAt,
      finishedAt: null,
      error: null,
      errorCode: null,
      nodes: null,
      output: null,
    };
  }

  /** Stores the outcome of a run, unless a later attempt has started. */
  private async end(
    { id, shard, attempt }: BegunRun,
    journal: RunJournal,
    outcome: Pick<WorkflowRunEntity, 'state' | 'error' | 'errorCode' | 'output'>,
  ): Promise<void> {
    const changes = { ...outcome, finishedAt: this.clock.now(), nodes: journal.text() };
    await this.database.write((manager) => RUNS.update(manager, { id, shard, attempt }, changes));
  }
}

/** Starts the next attempt of a run unless it has ended; earlier attempts can store nothing more. @returns the current row */
async function startNextAttempt(
  manager: EntityManager,
  runKey: string,
  shard: number,
): Promise<WorkflowRunEntity> {
  const begun = { state: WorkflowRunState.Started, finishedAt: null, error: null, nodes: null };
  await RUNS.update(manager, { runKey, shard, state: restartable() }, { ...begun, attempt: nextAttempt });
  const found = await ALL.first(manager, { runKey, shard });
  if (found === null) {
    throw new Error(`The run ${runKey} has disappeared.`);
  }
  return found;
}

/** Ends the active runs of tokens. Their workers can store nothing more. */
async function endOfTokens(
  executor: SqlExecutor,
  owner: RunOwner,
  processTokenIds: readonly number[],
  changes: Pick<WorkflowRunEntity, 'state' | 'finishedAt' | 'error'>,
): Promise<void> {
  const begun = { ...owner, processTokenId: In([...processTokenIds]), state: WorkflowRunState.Started };
  await RUNS.update(executor, begun, { ...changes, attempt: nextAttempt });
}
