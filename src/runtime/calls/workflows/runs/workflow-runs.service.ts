import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { SqlExecutor } from '../../../../store/groups/shared-transaction.js';
import { Clock } from '../../../../platform/clock.js';
import { Deadline } from '../../../../platform/concurrency/deadline.js';
import { Permission } from '../../../../platform/auth/permission.js';
import type { JsonValue } from '#engine/json';
import { readPage, type Page } from '../../../../platform/validation/page.js';
import { appsOf, type SomeApps } from '../../../../platform/user/grant.js';
import type { Principal } from '../../../../platform/user/principal.js';
import { BuildDefinitionsService } from '../../../../delivery/builds/contents/build-definitions.service.js';
import type { RunCallPage, ListedRun, RunDetails, WorkflowRunQuery } from '../storage/workflow-run.entity.js';
import { CallStore } from '../journal/call-store.js';
import { NodeExecutorsService } from './node-executors.service.js';
import { RunStore, type RunOwner } from '../journal/run-store.js';
import { WorkflowRunsRepository } from '../storage/workflow-runs.repository.js';
import { RunTree, type TreeTools } from './run-tree.js';
import type { WorkflowRunError, WorkflowRunRequest } from '../model/workflow.types.js';
import {
  WorkflowBpmnError,
  WorkflowFailedError,
  WorkflowRunNotFoundError,
} from '../model/workflows.errors.js';
import { workflowLimits } from '../workflow.limits.js';
import { pageLimits } from '../../../../platform/validation/page.limits.js';

/** Runs workflows of builds and reads their runs (docs/process-semantics.md, section 13). */
@Injectable()
export class WorkflowRunsService {
  private readonly tools: TreeTools;

  constructor(
    definitions: BuildDefinitionsService,
    private readonly store: RunStore,
    private readonly runs: WorkflowRunsRepository,
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
    };
  }

  /**
   * Runs a workflow of a build to its end and stores the run. Must not run inside a transaction.
   * @throws WorkflowBpmnError when it ends with a BPMN error, WorkflowFailedError when a retry would not help
   * @throws the reason of the signal, or a database error, after which it may be retried with its `runKey`
   */
  async run(request: WorkflowRunRequest): Promise<JsonValue> {
    const milliseconds = workflowLimits.deadlineMs;
    const message = `The run took longer than ${milliseconds} ms.`;
    const timeout = () => new WorkflowFailedError('WORKFLOW_DEADLINE', message);
    const deadline = new Deadline(request.signal, milliseconds, timeout);
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

  /** Cancels runs of tokens, including subworkflows, in the caller's transaction; their signals are aborted. */
  async cancel(executor: SqlExecutor, owner: RunOwner, processTokenIds: readonly number[]): Promise<void> {
    await this.store.cancel(executor, owner, processTokenIds);
  }

  /** Fails runs of a token whose job is given up. A request with the same run key resumes them. */
  async abandon(owner: RunOwner, processTokenId: number): Promise<void> {
    await this.store.abandon(owner, processTokenId);
  }

  /** Releases calls with unknown outcome in the caller's transaction, after a person has decided to retry. */
  async release(executor: SqlExecutor, runKey: string, shard: number): Promise<void> {
    await this.runs.releaseCalls(executor, runKey, shard);
  }

  /**
   * Whether a run or a subworkflow has made a call that must not be repeated, so that a retry must resume this run. Calls that
   * certainly had no effect do not count.
   */
  async mustResume(executor: SqlExecutor, runKey: string, shard: number): Promise<boolean> {
    return this.runs.hasLastingCalls(executor, runKey, shard);
  }

  /** Returns the id of the run with a key; null if none was started. */
  async idOf(runKey: string, shard: number): Promise<string | null> {
    return this.runs.idOf(runKey, shard);
  }

  /** Returns the errors of failed runs by id, in the caller's transaction; other runs are missing. */
  async failures(
    manager: EntityManager,
    runs: readonly { id: string; shard: number }[],
  ): Promise<ReadonlyMap<string, WorkflowRunError>> {
    return this.runs.failures(manager, runs);
  }

  /** Returns a page of runs in applications that the caller may read, newest first. */
  async page(principal: Principal, query: WorkflowRunQuery): Promise<Page<ListedRun>> {
    const limit = query.limit ?? pageLimits.size;
    return readPage(
      limit,
      (rows) => this.runs.page(query, readableBy(principal), rows),
      ({ id }) => id,
    );
  }

  /** Returns the outside calls of a run after the key `after`, in order. @throws WorkflowRunNotFoundError */
  async callsOf(
    principal: Principal,
    id: string,
    { after, limit = pageLimits.size }: { after?: string; limit?: number },
  ): Promise<RunCallPage> {
    const isLimited = readableBy(principal) !== null;
    if (isLimited) {
      await this.byId(principal, id);
    }
    const page = await this.calls.page(id, after, limit);
    if (page.items.length === 0 && !isLimited) {
      await this.byId(principal, id);
    }
    return { ...page, maxLength: workflowLimits.recordValueBytes };
  }

  /** @throws WorkflowRunNotFoundError also for runs of applications that the caller may not read */
  async byId(principal: Principal, id: string): Promise<RunDetails> {
    const run = await this.runs.find(id, readableBy(principal));
    if (run === null) {
      throw new WorkflowRunNotFoundError();
    }
    return run;
  }
}

/** Returns the applications whose runs a caller may read; null for all. */
function readableBy(principal: Principal): SomeApps | null {
  return appsOf(principal, Permission.ProcessRead);
}
