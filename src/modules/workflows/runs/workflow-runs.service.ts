import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../../../common/clock.js';
import type { JsonValue } from '../../../common/json.js';
import { Env } from '../../../config/env.js';
import { BuildDefinitionsService } from '../../builds/contents/build-definitions.service.js';
import type { RunCallPage } from '../model/call-journal.types.js';
import { CallStore } from '../journal/call-store.js';
import { NodeExecutorsService } from './node-executors.service.js';
import { RunDeadline } from './run-deadline.js';
import { RunStore } from '../journal/run-store.js';
import { RunTree, type TreeTools } from './run-tree.js';
import type {
  RunDetails,
  WorkflowRunPage,
  WorkflowRunQuery,
  WorkflowRunRequest,
} from '../model/workflow.types.js';
import { WorkflowBpmnError, WorkflowRunNotFoundError } from '../model/workflows.errors.js';

/** Runs workflows of builds and shows what they did (docs/process-semantics.md, section 13). */
@Injectable()
export class WorkflowRunsService {
  private readonly tools: TreeTools;

  constructor(
    definitions: BuildDefinitionsService,
    private readonly env: Env,
    private readonly store: RunStore,
    private readonly calls: CallStore,
    clock: Clock,
    executors: NodeExecutorsService,
  ) {
    this.tools = {
      store,
      calls,
      find: (buildId, { appId, name }) => definitions.workflow(buildId, appId, name),
      executors: executors.list(),
      now: () => clock.now(),
      limits: {
        nodes: env.get('WORKFLOW_MAX_NODES'),
        depth: env.get('WORKFLOW_MAX_DEPTH'),
        dataBytes: env.get('WORKFLOW_MAX_DATA_BYTES'),
      },
      journal: {
        valueBytes: env.get('WORKFLOW_RECORD_VALUE_BYTES'),
        totalBytes: env.get('WORKFLOW_RECORD_BYTES'),
      },
    };
  }

  /**
   * Runs a workflow of a build to its end and keeps the run. Not inside of a transaction.
   * @returns the output
   * @throws WorkflowBpmnError when it ends with a BPMN error
   * @throws WorkflowFailedError when the workflow or its data are at fault, so that trying again is pointless
   * @throws the reason of the request's signal, or an error of the database: the run may be tried again with its `runKey`
   */
  async run(request: WorkflowRunRequest): Promise<JsonValue> {
    const deadline = new RunDeadline(request.signal, this.env.get('WORKFLOW_DEADLINE_MS'));
    try {
      const { output, errorCode } = await new RunTree(request, deadline.signal, this.tools).run();
      if (errorCode !== null) {
        throw new WorkflowBpmnError(errorCode);
      }
      return output;
    } finally {
      deadline.clear();
    }
  }

  /**
   * Cancels the runs that these tokens of an instance waited for, subworkflows included, in the caller's transaction. The signal of
   * one that is under way is aborted by whoever runs it, when it finds its job gone.
   */
  async cancel(
    manager: EntityManager,
    processInstanceUuid: string,
    processTokenIds: readonly number[],
  ): Promise<void> {
    await this.store.cancel(manager, processInstanceUuid, processTokenIds);
  }

  /**
   * Ends the runs that a token waits for, subworkflows included, as failed: their workers died and the job is given up. Asked for
   * again with their key, they go on.
   */
  async abandon(processInstanceUuid: string, processTokenId: number): Promise<void> {
    await this.store.abandon(processInstanceUuid, processTokenId);
  }

  /**
   * Lets the calls of a run whose outcome is unknown be made once more, in the caller's transaction: a person has decided to retry
   * it. Whoever asks for the run with its key next goes on with it.
   */
  async release(manager: EntityManager, runKey: string): Promise<void> {
    await this.calls.release(manager, runKey);
  }

  /**
   * Whether a run, or one of its subworkflows, has made a call that may not be made twice, so that a retry must go on with this
   * run. Calls that certainly had no effect do not count.
   */
  async mustGoOn(manager: EntityManager, runKey: string): Promise<boolean> {
    return this.calls.hasLasting(manager, runKey);
  }

  /** A page of runs of all workflows, newest first. */
  async page(query: WorkflowRunQuery): Promise<WorkflowRunPage> {
    const limit = query.limit ?? this.env.get('WORKFLOW_PAGE_SIZE');
    const rows = await this.store.page(query, limit + 1);
    const runs = rows.slice(0, limit);
    return { runs, next: rows.length > limit ? (runs.at(-1)?.id ?? null) : null };
  }

  /**
   * A page of what a run has called outside of the service, in the order in which that was begun.
   * @param after key of the last call of the page before
   * @throws WorkflowRunNotFoundError
   */
  async callsOf(
    id: string,
    { after, limit = this.env.get('WORKFLOW_PAGE_SIZE') }: { after?: string; limit?: number },
  ): Promise<RunCallPage> {
    const rows = await this.calls.page(id, after, limit + 1);
    if (rows.length === 0) {
      await this.byId(id);
    }
    const calls = rows.slice(0, limit);
    const next = rows.length > limit ? (calls.at(-1)?.key ?? null) : null;
    return { calls, next, maxLength: this.env.get('WORKFLOW_RECORD_VALUE_BYTES') };
  }

  /** @throws WorkflowRunNotFoundError */
  async byId(id: string): Promise<RunDetails> {
    const run = await this.store.find(id);
    if (run === null) {
      throw new WorkflowRunNotFoundError();
    }
    return run;
  }
}
