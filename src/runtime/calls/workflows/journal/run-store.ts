import { Injectable } from '@nestjs/common';
import { In, type EntityManager } from 'typeorm';
import type { Sender } from '../../../../store/groups/step-transaction.js';
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

/** What a run is begun with. */
export type NewRun = Pick<
  WorkflowRunEntity,
  'buildId' | 'appId' | 'workflow' | 'origin' | 'processInstanceUuid' | 'processTokenId' | 'parentRunId'
> & { runKey: string | undefined; shard: number };

/** The instance whose tokens wait for runs. */
export type RunOwner = Pick<WorkflowRunEntity, 'processInstanceUuid' | 'shard'>;

/** A run that was begun; `result` is there when an earlier beginning of it has finished. */
export interface BegunRun {
  readonly id: string;
  readonly shard: number;
  readonly attempt: number;
  readonly result?: RunResult;
}

const INTERRUPTED: WorkflowRunError = {
  code: 'WORKFLOW_INTERRUPTED',
  node: null,
  message: 'The run was interrupted. It begins again when its job does.',
  details: null,
};

const ABANDONED: WorkflowRunError = {
  ...INTERRUPTED,
  message: 'The run was interrupted too often. It does not begin again.',
};

const ALL = RUNS.selectAllBut();
/** States of runs that may still begin again. */
const notOver = () => In([WorkflowRunState.Started, WorkflowRunState.Failed]);
const oneMore = () => 'attempt + 1';

const noHold = (): Promise<void> => Promise.resolve();

/** Stores runs. The unique key of a run decides that there is one for each piece of work, however often that is begun. */
@Injectable()
export class RunStore {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /** @param hold see WorkflowRunRequest.hold */
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
      return reopened(manager, runKey, shard);
    });
    const begun = { id: stored.id, shard: stored.shard, attempt: stored.attempt };
    if (stored.state !== WorkflowRunState.Finished || stored.output === null) {
      return begun;
    }
    const output = JSON.parse(stored.output) as JsonValue;
    return { ...begun, result: { output, errorCode: stored.errorCode } };
  }

  /** Stores a run that a job will begin (`rowOf`), in the transaction that adds the job. */
  async open(manager: EntityManager, row: WorkflowRunEntity): Promise<void> {
    await insertNew(manager, WorkflowRunEntity, row);
  }

  /** Ends a run that nobody will go on with, and the runs of its subworkflows, unless they have ended. */
  async giveUp(manager: EntityManager, runKey: string, shard: number): Promise<void> {
    const changes = { error: ABANDONED, finishedAt: this.clock.now(), state: WorkflowRunState.Failed };
    for await (const ids of runGenerations(manager, runKey, shard)) {
      await RUNS.update(manager, { id: In(ids), shard, state: notOver() }, { ...changes, attempt: oneMore });
    }
  }

  async finish(run: BegunRun, journal: RunJournal, { output, errorCode }: RunResult): Promise<void> {
    const state = WorkflowRunState.Finished;
    await this.end(run, journal, { state, error: null, errorCode, output: JSON.stringify(output) });
  }

  /** Stores why a run ended without output. A failure is logged, so that the caller can throw the cause. */
  async fail(run: BegunRun, journal: RunJournal, cause: unknown): Promise<void> {
    const error = cause instanceof WorkflowFailedError ? cause.toRecord() : INTERRUPTED;
    try {
      const state = WorkflowRunState.Failed;
      await this.end(run, journal, { state, error, errorCode: null, output: null });
    } catch (failure) {
      this.log.error('workflow run was not stored', failure, { workflowRunId: run.id, code: error.code });
    }
  }

  /** Ends runs that these tokens wait for no more, in the caller's transaction. Their workers store nothing more. */
  async cancel(manager: Sender, owner: RunOwner, processTokenIds: readonly number[]): Promise<void> {
    const changes = { state: WorkflowRunState.Cancelled, finishedAt: this.clock.now(), error: null };
    await endOfTokens(manager, owner, processTokenIds, changes);
  }

  /** Ends runs of a token that died with their workers, and that nobody begins again unless a person asks for it. */
  async abandon(owner: RunOwner, processTokenId: number): Promise<void> {
    const changes = { state: WorkflowRunState.Failed, finishedAt: this.clock.now(), error: INTERRUPTED };
    await this.database.write((manager) => endOfTokens(manager, owner, [processTokenId], changes));
  }

  /** A run that begins now, with a new id. */
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

  /** Stores how a run ended, unless it was begun again meanwhile. */
  private async end(
    { id, shard, attempt }: BegunRun,
    journal: RunJournal,
    outcome: Pick<WorkflowRunEntity, 'state' | 'error' | 'errorCode' | 'output'>,
  ): Promise<void> {
    const changes = { ...outcome, finishedAt: this.clock.now(), nodes: journal.text() };
    await this.database.write((manager) => RUNS.update(manager, { id, shard, attempt }, changes));
  }
}

/** Begins a run again, unless it is over: whoever began it before stores nothing more. @returns it as it is now */
async function reopened(manager: EntityManager, runKey: string, shard: number): Promise<WorkflowRunEntity> {
  const begun = { state: WorkflowRunState.Started, finishedAt: null, error: null, nodes: null };
  await RUNS.update(manager, { runKey, shard, state: notOver() }, { ...begun, attempt: oneMore });
  const found = await ALL.first(manager, { runKey, shard });
  if (found === null) {
    throw new Error(`The run ${runKey} was there and is gone.`);
  }
  return found;
}

/** Ends the runs of tokens that have not ended yet. From then on whoever began them stores nothing more. */
async function endOfTokens(
  manager: Sender,
  owner: RunOwner,
  processTokenIds: readonly number[],
  changes: Pick<WorkflowRunEntity, 'state' | 'finishedAt' | 'error'>,
): Promise<void> {
  const begun = { ...owner, processTokenId: In([...processTokenIds]), state: WorkflowRunState.Started };
  await RUNS.update(manager, begun, { ...changes, attempt: oneMore });
}
