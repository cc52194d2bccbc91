import { NotFoundError } from '../../../../platform/errors/domain.error.js';
import type { JsonObject } from '#engine/json';
import { BuildDamagedError, LibraryRefusedError } from '../../../../delivery/builds/model/builds.errors.js';
import type { CallStore } from '../journal/call-store.js';
import type { RunScope } from '../model/node-executor.js';
import { RunJournal } from '../journal/run-journal.js';
import type { BegunRun, RunStore } from '../journal/run-store.js';
import { WorkflowRunner, type RunnerTools } from './workflow-runner.js';
import {
  NO_PROCESS,
  WorkflowRunOrigin,
  type RunnableWorkflow,
  type RunResult,
  type WorkflowRunRequest,
  type WorkflowTarget,
} from '../model/workflow.types.js';
import { WorkflowFailedError } from '../model/workflows.errors.js';
import { workflowLimits } from '../workflow.limits.js';

/** Dependencies of the runs of a tree. */
export interface TreeTools extends RunnerTools {
  readonly store: RunStore;
  readonly calls: CallStore;
  /** @throws NotFoundError */
  readonly find: (buildId: string, target: WorkflowTarget) => Promise<RunnableWorkflow>;
}

/** Position of a run in the tree. */
interface Place {
  readonly depth: number;
  readonly parentRunId: string | null;
  readonly runKey: string | undefined;
}

/** Workflow run with its subworkflows, which share its limits. Each is stored as a separate run. */
export class RunTree {
  private readonly budget = { nodesLeft: workflowLimits.nodes };

  /** @param signal interrupts all runs of the tree */
  constructor(
    private readonly request: WorkflowRunRequest,
    private readonly signal: AbortSignal,
    private readonly tools: TreeTools,
  ) {}

  /** @throws WorkflowFailedError, or the error that interrupted the run */
  async run(): Promise<RunResult> {
    const { appId, workflow: name, input, runKey } = this.request;
    return this.runOne({ appId, name }, input, { depth: 0, parentRunId: null, runKey });
  }

  private async runOne(target: WorkflowTarget, input: JsonObject, place: Place): Promise<RunResult> {
    const {
      buildId,
      processInstanceUuid,
      processTokenId,
      shard = 0,
      hold,
      origin = WorkflowRunOrigin.Process,
    } = this.request;
    const { parentRunId, runKey } = place;
    const names = { buildId, appId: target.appId, workflow: target.name, origin, processInstanceUuid, shard };
    const run = await this.tools.store.begin({ ...names, processTokenId, parentRunId, runKey }, hold);
    if (run.result !== undefined) {
      return run.result;
    }
    const journal = new RunJournal();
    const result = await this.resultOf(target, input, { run, journal, depth: place.depth });
    await this.tools.store.finish(run, journal, result);
    return result;
  }

  private async resultOf(
    target: WorkflowTarget,
    input: JsonObject,
    { run, journal, depth }: { run: BegunRun; journal: RunJournal; depth: number },
  ): Promise<RunResult> {
    try {
      const workflow = await this.find(target, depth);
      const scope = this.scope(run, target.appId, depth);
      return await new WorkflowRunner(workflow, input, scope, journal, this.tools).run();
    } catch (error) {
      const failure =
        error instanceof BuildDamagedError ? new WorkflowFailedError(error.code, error.message) : error;
      await this.tools.store.fail(run, journal, failure);
      throw failure;
    }
  }

  private scope(run: BegunRun, appId: string | null, depth: number): RunScope {
    const { buildId, payer, processInstanceUuid, parentProcessInstanceUuid, hold } = this.request;
    return {
      runId: run.id,
      buildId,
      payer,
      appId,
      calls: this.tools.calls.of(run, hold),
      predefined: {
        processInstanceId: processInstanceUuid === NO_PROCESS ? null : processInstanceUuid,
        parentProcessInstanceId: parentProcessInstanceUuid,
      },
      signal: this.signal,
      budget: this.budget,
      subworkflow: (target, input, key) => this.subworkflow(target, input, { run, key, depth: depth + 1 }),
    };
  }

  private async subworkflow(
    target: WorkflowTarget,
    input: JsonObject,
    { run, key, depth }: { run: BegunRun; key: string; depth: number },
  ): Promise<RunResult> {
    if (depth > workflowLimits.depth) {
      const message = 'Subworkflows are nested too deeply.';
      throw new WorkflowFailedError('WORKFLOW_DEPTH_LIMIT', message);
    }
    try {
      return await this.runOne(target, input, { depth, parentRunId: run.id, runKey: `${run.id}/${key}` });
    } catch (error) {
      throw error instanceof WorkflowFailedError ? asSubworkflow(error, target.name) : error;
    }
  }

  private async find(target: WorkflowTarget, depth: number): Promise<RunnableWorkflow> {
    try {
      return await this.tools.find(this.request.buildId, target);
    } catch (error) {
      if (!(error instanceof NotFoundError)) {
        throw error;
      }
      const why = error instanceof LibraryRefusedError ? error.message : undefined;
      throw depth === 0
        ? new WorkflowFailedError('WORKFLOW_NOT_FOUND', why ?? `The build has no workflow ${target.name}.`)
        : new WorkflowFailedError('SUBWORKFLOW_NOT_FOUND', why ?? `[${target.name}] subworkflow not found.`);
    }
  }
}

/** Codes that a parent run keeps: they end the whole tree, or people and error boundary events rely on them. */
const KEPT_CODES =
  /^(SUBWORKFLOW_NOT_FOUND|BUILD_DAMAGED|WORKFLOW_(NODE_LIMIT|DEPTH_LIMIT|DEADLINE)|CALL_OUTCOME_UNKNOWN|(AGENT|REST)_[A-Z_]+)$/;

/** Converts the failure of a subworkflow to a failure of its parent. */
function asSubworkflow(error: WorkflowFailedError, name: string): WorkflowFailedError {
  if (KEPT_CODES.test(error.code)) {
    return new WorkflowFailedError(error.code, error.message, { details: error.details, cause: error });
  }
  const place = error.node === null ? '' : ` at its node "${error.node}"`;
  const message = `The subworkflow ${name} failed${place}.`;
  return new WorkflowFailedError('SUBWORKFLOW_FAILED', message, { details: innermost(error), cause: error });
}

/** Returns code and message of the original failure. */
function innermost(error: WorkflowFailedError): string {
  let found = error;
  while (found.code === 'SUBWORKFLOW_FAILED' && found.cause instanceof WorkflowFailedError) {
    found = found.cause;
  }
  return `${found.code}: ${found.message}`;
}
