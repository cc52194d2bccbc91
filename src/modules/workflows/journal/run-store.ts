import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { JsonValue } from '../../../common/json.js';
import { Clock } from '../../../common/clock.js';
import { orderedUuid } from '../../../common/ordered-uuid.js';
import { Log } from '../../../common/logging/log.js';
import type { SomeApps } from '../../../common/user/grant.js';
import { Database } from '../../../database/database.js';
import type { WorkflowRunEntity } from '../storage/workflow-run.entity.js';
import type { RunJournal } from './run-journal.js';
import { WorkflowRunsRepository } from '../storage/workflow-runs.repository.js';
import {
  WorkflowRunState,
  type ListedRun,
  type RunResult,
  type RunDetails,
  type WorkflowRunError,
  type WorkflowRunQuery,
} from '../model/workflow.types.js';
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

const noHold = (): Promise<void> => Promise.resolve();

/** Keeps runs. The unique key of a run decides that there is one for each piece of work, however often that is begun. */
@Injectable()
export class RunStore {
  constructor(
    private readonly repository: WorkflowRunsRepository,
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
      return this.repository.insert(manager, row);
    });
    if (isNew) {
      return { id, shard, attempt: 1 };
    }
    const stored = await this.database.write(async (manager) => {
      await hold(manager);
      return this.repository.reopen(manager, runKey, shard);
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
    await this.repository.insert(manager, row);
  }

  /** Ends a run that nobody will go on with, unless it has ended. */
  async giveUp(manager: EntityManager, runKey: string, shard: number): Promise<void> {
    await this.repository.giveUp(
      manager,
      { runKey, shard },
      { error: ABANDONED, finishedAt: this.clock.now() },
    );
  }

  async finish(run: BegunRun, journal: RunJournal, { output, errorCode }: RunResult): Promise<void> {
    await this.end(run, journal, {
      state: WorkflowRunState.Finished,
      error: null,
      errorCode,
      output: JSON.stringify(output),
    });
  }

  /**
   * Stores why a run ended without output. That it cannot be stored is logged and not thrown, so that the caller can throw
   * the cause.
   */
  async fail(run: BegunRun, journal: RunJournal, cause: unknown): Promise<void> {
    const error = cause instanceof WorkflowFailedError ? cause.toRecord() : INTERRUPTED;
    try {
      await this.end(run, journal, {
        state: WorkflowRunState.Failed,
        error,
        errorCode: null,
        output: null,
      });
    } catch (failure) {
      this.log.error('workflow run was not stored', failure, { workflowRunId: run.id, code: error.code });
    }
  }

  /** Ends runs that these tokens wait for no more, in the caller's transaction. Their workers store nothing more. */
  async cancel(manager: EntityManager, owner: RunOwner, processTokenIds: readonly number[]): Promise<void> {
    const changes = { state: WorkflowRunState.Cancelled, finishedAt: this.clock.now(), error: null };
    await this.repository.endOfTokens(manager, { ...owner, processTokenIds }, changes);
  }

  /** Ends runs of a token that died with their workers, and that nobody begins again unless a person asks for it. */
  async abandon(owner: RunOwner, processTokenId: number): Promise<void> {
    const changes = { state: WorkflowRunState.Failed, finishedAt: this.clock.now(), error: INTERRUPTED };
    await this.database.write((manager) =>
      this.repository.endOfTokens(manager, { ...owner, processTokenIds: [processTokenId] }, changes),
    );
  }

  /** @param apps only when it is a run of one of these applications; null for whichever */
  async find(id: string, apps: SomeApps | null): Promise<RunDetails | null> {
    const row = await this.database.read((manager) => this.repository.findById(manager, id, apps));
    if (row === null) {
      return null;
    }
    return { ...row, nodes: row.nodes ?? '[]', output: row.output ?? 'null' };
  }

  /** Id of the run that has a key; null when there is none. */
  async idOf(runKey: string, shard: number): Promise<string | null> {
    return this.database.read((manager) => this.repository.idOf(manager, runKey, shard));
  }

  /** Why runs failed, by their ids. */
  async failures(
    manager: EntityManager,
    runs: readonly { id: string; shard: number }[],
  ): Promise<ReadonlyMap<string, WorkflowRunError>> {
    const found = runs.length === 0 ? [] : await this.repository.failed(manager, runs);
    return new Map(found.flatMap(({ id, error }) => (error === null ? [] : [[id, error]])));
  }

  /**
   * Runs, newest first, at most `limit`.
   * @param apps only runs of these applications; null for all
   */
  async page(query: WorkflowRunQuery, apps: SomeApps | null, limit: number): Promise<ListedRun[]> {
    return this.database.read((manager) => this.repository.page(manager, query, apps, limit));
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

  private async end(
    run: BegunRun,
    journal: RunJournal,
    outcome: Pick<WorkflowRunEntity, 'state' | 'error' | 'errorCode' | 'output'>,
  ): Promise<void> {
    const changes = { ...outcome, finishedAt: this.clock.now(), nodes: journal.text() };
    await this.database.write((manager) => this.repository.end(manager, run, changes));
  }
}
