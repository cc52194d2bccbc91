import type { EntityManager } from 'typeorm';
import type { JsonObject, JsonValue } from '#engine/json';
import type { Payer } from '../../../quotas/model/quota.types.js';

/** Kind of the jobs that run workflows that were started by hand. */
export const TEST_RUN_JOB = 'WORKFLOW_TEST';
/** In place of the UUID of a process instance for a run that belongs to none. */
export const NO_PROCESS = '';

/** Where a run stands. */
export enum WorkflowRunState {
  Started = 'STARTED',
  Finished = 'FINISHED',
  Failed = 'FAILED',
  /** The token that waited for it was taken away, or its instance ended. */
  Cancelled = 'CANCELLED',
}

/** What started a run. Subworkflows have the origin of the run that started them. */
export enum WorkflowRunOrigin {
  Process = 'PROCESS',
  /** Somebody who tries it out. */
  Test = 'TEST',
}

/** How a visit of a node ended. */
export enum WorkflowNodeState {
  Finished = 'FINISHED',
  Failed = 'FAILED',
}

/** A branch of a CONDITION node. */
export interface WorkflowCondition {
  readonly id: string;
  /** CEL over the data; null for the default. */
  readonly expression: string | null;
  readonly nextNodeId: string;
  readonly order: number;
  readonly isDefault: boolean;
}

/** The members of a node that a run needs, in the shape of the contract's "Custom Agent workflow node". */
export interface RunnableNode {
  readonly id: string;
  readonly type: string;
  readonly name: string;
  readonly conditions: readonly WorkflowCondition[];
  readonly outgoingSequences: readonly { readonly id: string; readonly targetNodeId: string }[];
  /** JSON text with `${…}` references. */
  readonly inputBody: string | null;
  /** END: JSON text with `${…}` references. */
  readonly outputBody: string | null;
  readonly payload: JsonObject | null;
  /** CUSTOM_AGENT: see the contract's "Custom Agent workflow node". */
  readonly aiOptions?: JsonObject | null;
  /** Path of the data under which the result is stored. */
  readonly responseKey: string | null;
}

/** What a run needs of a workflow. */
export interface RunnableWorkflow {
  readonly name: string;
  /** JSON Schema (2020-12); null takes any object. */
  readonly inputSchema: JsonObject | null;
  /** JSON Schema (2020-12); null takes any value. */
  readonly outputSchema: JsonObject | null;
  readonly nodes: readonly RunnableNode[];
}

/** A workflow to run. */
export interface WorkflowTarget {
  /** The application of the build or of a library dependency; null for whichever of them has it, as for actions. */
  readonly appId: string | null;
  readonly name: string;
}

/** A workflow that a process or a person starts. */
export interface WorkflowRunRequest {
  buildId: string;
  /** The application of the build or of a library dependency; null for whichever of them has the workflow. */
  appId: string | null;
  workflow: string;
  input: JsonObject;
  /** Whose quotas count what the run uses. */
  payer: Payer;
  /** @default Process */
  origin?: WorkflowRunOrigin;
  /** NO_PROCESS for a run that belongs to none. */
  processInstanceUuid: string;
  parentProcessInstanceUuid: string | null;
  /** Where the run is stored: with the instance or the job that waits for it. @default 0 */
  shard?: number;
  /** Token that waits for it; its runs are cancelled when it no longer does. */
  processTokenId: number | null;
  /** Stops the run: its reason is thrown, and the run may be asked for again. */
  signal: AbortSignal;
  /**
   * Up to 128 characters that name this piece of work, such as the id of its job. Another request with the key adds no run: it
   * goes on with the existing one. When that has finished, its output is given once more. Without a key every request is a run
   * of its own.
   */
  runKey?: string;
  /**
   * Called first in the transaction that begins a run, of subworkflows too. Throws when the run is no longer wanted. Locks,
   * until the commit, everything that a cancellation takes away.
   */
  hold?: (manager: EntityManager) => Promise<void>;
}

/** How a run came to its end. */
export interface RunResult {
  readonly output: JsonValue;
  /** Code of the BPMN error that it ended with, see the END node; null when it ended without one. */
  readonly errorCode: string | null;
}

/** Why a run failed. */
export interface WorkflowRunError {
  /** Stable, upper snake case. */
  readonly code: string;
  /** Name of the node; null when it is about the whole run. */
  readonly node: string | null;
  readonly message: string;
  /** What was wrong exactly; may quote the definition and its data. */
  readonly details: string | null;
}
