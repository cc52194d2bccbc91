import type { EntityManager } from 'typeorm';
import type { JsonObject, JsonValue } from '#engine/json';
import type { Payer } from '../../../quotas/model/quota.types.js';

/** Kind of the jobs of test runs. */
export const TEST_RUN_JOB = 'WORKFLOW_TEST';
/** Value of `processInstanceUuid` for a run without a process. */
export const NO_PROCESS = '';

/** State of a run. */
export enum WorkflowRunState {
  Started = 'STARTED',
  Finished = 'FINISHED',
  Failed = 'FAILED',
  /** Its token was removed or its instance ended. */
  Cancelled = 'CANCELLED',
}

/** Origin of a run. Subworkflows have the origin of their parent run. */
export enum WorkflowRunOrigin {
  Process = 'PROCESS',
  /** A person, as a test. */
  Test = 'TEST',
}

/** Final state of a node visit. */
export enum WorkflowNodeState {
  Finished = 'FINISHED',
  Failed = 'FAILED',
}

/** Branch of a CONDITION node. */
export interface WorkflowCondition {
  readonly id: string;
  /** CEL over the data; null for the default. */
  readonly expression: string | null;
  readonly nextNodeId: string;
  readonly order: number;
  readonly isDefault: boolean;
}

/** Node members needed for a run, as in "Custom Agent workflow node" of the contract. */
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
  /** Path in the data at which the result is stored. */
  readonly responseKey: string | null;
}

/** Workflow members needed for a run. */
export interface RunnableWorkflow {
  readonly name: string;
  /** JSON Schema (2020-12); null accepts any object. */
  readonly inputSchema: JsonObject | null;
  /** JSON Schema (2020-12); null accepts any value. */
  readonly outputSchema: JsonObject | null;
  readonly nodes: readonly RunnableNode[];
}

/** Workflow to run. */
export interface WorkflowTarget {
  /** Application of the build or a library; null to search all of them, as for actions. */
  readonly appId: string | null;
  readonly name: string;
}

/** Request of a process or person to run a workflow. */
export interface WorkflowRunRequest {
  buildId: string;
  /** Application of the build or a library; null to search all of them. */
  appId: string | null;
  workflow: string;
  input: JsonObject;
  /** Application and caller whose quotas are charged. */
  payer: Payer;
  /** @default Process */
  origin?: WorkflowRunOrigin;
  /** NO_PROCESS for a run without a process. */
  processInstanceUuid: string;
  parentProcessInstanceUuid: string | null;
  /** Shard of the instance or job that waits for the run. @default 0 */
  shard?: number;
  /** Token that waits for the run; the run is cancelled when it no longer waits. */
  processTokenId: number | null;
  /** Interrupts the run: its reason is thrown, and the run may be retried. */
  signal: AbortSignal;
  /**
   * Idempotency key of up to 128 characters, such as the id of the job. A second request with the key resumes the existing run, or
   * returns its output if it has finished. Without a key every request creates a run.
   */
  runKey?: string;
  /**
   * Called first in every transaction that starts a run or subworkflow. Throws when the run is no longer needed. Holds locks
   * until the commit so that the run cannot be cancelled meanwhile.
   */
  hold?: (manager: EntityManager) => Promise<void>;
}

/** Result of a completed run. */
export interface RunResult {
  readonly output: JsonValue;
  /** Code of the BPMN error thrown by the END node; null if none was thrown. */
  readonly errorCode: string | null;
}

/** Why a run failed. */
export interface WorkflowRunError {
  /** Stable, upper snake case. */
  readonly code: string;
  /** Name of the node; null when the failure concerns the whole run. */
  readonly node: string | null;
  readonly message: string;
  /** Details, which may include parts of the definition and data. */
  readonly details: string | null;
}
