import type { Encode } from '#engine/expressions';
import type { JsonObject, JsonValue } from '#engine/json';
import type { ExecutedNodeType } from '../../../../delivery/packages/schema/node-types.types.js';
import type { Payer } from '../../../quotas/model/quota.types.js';
import type { CallJournal } from './call-journal.types.js';
import type { RunnableNode, RunnableWorkflow, RunResult, WorkflowTarget } from './workflow.types.js';

/** Run to which a node belongs. */
export interface RunScope {
  /** Id of the run; subworkflows have their own. */
  readonly runId: string;
  readonly buildId: string;
  /** Application and caller whose quotas are charged. */
  readonly payer: Payer;
  /** Application of the workflow; null to search the build and its libraries, see WorkflowRunRequest. */
  readonly appId: string | null;
  /** Journal through which nodes must make all outside calls. */
  readonly calls: CallJournal;
  /** Predefined references that are not part of the data: `processInstanceId`, `parentProcessInstanceId` (UUIDs). */
  readonly predefined: Readonly<Record<string, string | null>>;
  /**
   * Aborted when the run must stop: it has timed out, the replica stops, or its token or instance was cancelled. Pass it to
   * everything that waits, and release open resources when it aborts.
   */
  readonly signal: AbortSignal;
  /** Number of nodes that this run and its subworkflows may still execute. */
  readonly budget: { nodesLeft: number };
  /**
   * Runs another workflow of the build to its end.
   * @param place key of this start within the run; a repeated run uses the same keys
   * @throws WorkflowFailedError when there is no such workflow, or it fails
   */
  readonly subworkflow: (target: WorkflowTarget, input: JsonObject, place: string) => Promise<RunResult>;
}

/** Text template with its references replaced. */
export interface FilledText {
  readonly text: string;
  /** Unresolved references, as written. */
  readonly missing: readonly string[];
  /** Whether the template has no references. */
  readonly isFixed: boolean;
}

/**
 * Evaluates templates and conditions of a node, each in its own turn of the event loop. All of one visit share the budget
 * `expressionSteps`. Unresolved references are listed in the record of the visit. An ExpressionError or ExpressionSyntaxError
 * fails the node.
 */
export interface NodeTexts {
  /** Fills a JSON template. */
  readonly render: (template: string) => Promise<JsonValue>;
  /** Resolves one `${…}` reference, given without `${` and `}`; null if it is unresolved. */
  readonly read: (reference: string) => Promise<JsonValue>;
  /** Fills a text template, encoding each value. */
  readonly fill: (template: string, encode?: Encode) => Promise<FilledText>;
  /** Evaluates a condition. */
  readonly test: (expression: string) => Promise<boolean>;
}

/** Read-only input of a node executor. */
export interface NodeContext {
  readonly workflow: RunnableWorkflow;
  /** Data of the run so far. */
  readonly data: JsonObject;
  /** Data and predefined references, for expressions and templates. */
  readonly variables: JsonObject;
  /** Filled `inputBody` of the node, or all data without one; null for types without input. */
  readonly input: JsonValue;
  /** Number of this visit in the run, from 1. */
  readonly step: number;
  readonly scope: RunScope;
  readonly texts: NodeTexts;
}

/** Next node of a run. */
export type NextNode =
  /** Follows the only outgoing sequence. */
  | { readonly kind: 'SEQUENCE' }
  | { readonly kind: 'NODE'; readonly id: string }
  /** Ends the run with the result of the node as output; with a code, as a BPMN error. */
  | { readonly kind: 'END'; readonly errorCode: string | null };

/** Outcome of a node. */
export interface NodeOutcome {
  /** Stored under the `responseKey` of the node, if it has one. */
  readonly result: JsonValue;
  /** New data that replaces the current data before the result is stored. */
  readonly data?: JsonObject;
  readonly next: NextNode;
}

/** Executes nodes of one type. Register it with `NodeExecutorsService`. */
export interface NodeExecutor {
  readonly type: ExecutedNodeType;
  /** Whether the type uses `inputBody`. */
  readonly takesInput: boolean;
  /**
   * @throws WorkflowFailedError when the definition or the data do not allow it; any other error means that the run was
   * interrupted and may be retried
   */
  execute(node: RunnableNode, context: NodeContext): Promise<NodeOutcome>;
}

export const FOLLOW_SEQUENCE: NextNode = { kind: 'SEQUENCE' };
