import type { Encode } from '#engine/expressions';
import type { JsonObject, JsonValue } from '#engine/json';
import type { ExecutedNodeType } from '../../../../delivery/packages/schema/node-types.types.js';
import type { Payer } from '../../../quotas/model/quota.types.js';
import type { CallJournal } from './call-journal.types.js';
import type { RunnableNode, RunnableWorkflow, RunResult, WorkflowTarget } from './workflow.types.js';

/** What a node knows of the run it belongs to. */
export interface RunScope {
  /** Id of the run, of a subworkflow its own. */
  readonly runId: string;
  readonly buildId: string;
  /** Whose quotas count what the run uses. */
  readonly payer: Payer;
  /** Application whose workflow this is; null for whichever of the build has it, see WorkflowRunRequest. */
  readonly appId: string | null;
  /** Everything that a node asks of the outside goes through it, see CallJournal. */
  readonly calls: CallJournal;
  /** References that are there without being data: `processInstanceId`, `parentProcessInstanceId` (UUIDs). */
  readonly predefined: Readonly<Record<string, string | null>>;
  /**
   * Aborted when the run must stop: its time is over, the replica stops, or it was cancelled with its token or instance. Pass it to
   * everything that waits, and close with it whatever is open.
   */
  readonly signal: AbortSignal;
  /** How many nodes this run and its subworkflows may still go through. */
  readonly budget: { nodesLeft: number };
  /**
   * Runs another workflow of the build to its end.
   * @param place names this start among the starts of the run; a repeated run gives equal names
   * @throws WorkflowFailedError when there is no such workflow, or it fails
   */
  readonly subworkflow: (target: WorkflowTarget, input: JsonObject, place: string) => Promise<RunResult>;
}

/** A text template of a node with its references replaced. */
export interface FilledText {
  readonly text: string;
  /** References that lead nowhere, as they are written. */
  readonly missing: readonly string[];
  /** Whether the template reads no data. */
  readonly isFixed: boolean;
}

/**
 * Templates and conditions of a node over its variables. Each is done in a turn of its own of the event loop. All of one visit
 * share `expressionSteps`. References that lead nowhere are told in the record of the visit. What rejects with an
 * ExpressionError or an ExpressionSyntaxError is reported as a failure of the node.
 */
export interface NodeTexts {
  /** A JSON template with its references replaced. */
  readonly render: (template: string) => Promise<JsonValue>;
  /** What one `${…}` reference, written without its braces, stands for; null when it leads nowhere. */
  readonly read: (reference: string) => Promise<JsonValue>;
  /** A text template with its references replaced, each of them encoded. */
  readonly fill: (template: string, encode?: Encode) => Promise<FilledText>;
  /** The value of a condition. */
  readonly test: (expression: string) => Promise<boolean>;
}

/** What a node works with. All of it is to be read only. */
export interface NodeContext {
  readonly workflow: RunnableWorkflow;
  /** Data of the run so far. */
  readonly data: JsonObject;
  /** The data and the predefined references: what expressions and templates read. */
  readonly variables: JsonObject;
  /** The node's `inputBody` with its references replaced, all data without one; null when the kind takes no input. */
  readonly input: JsonValue;
  /** Number of this visit in the run, from 1. */
  readonly step: number;
  readonly scope: RunScope;
  readonly texts: NodeTexts;
}

/** Where a run goes on after a node. */
export type NextNode =
  /** Over its one outgoing sequence. */
  | { readonly kind: 'SEQUENCE' }
  | { readonly kind: 'NODE'; readonly id: string }
  /** The run is over; the result of the node is its output. With a code it ends with that BPMN error. */
  | { readonly kind: 'END'; readonly errorCode: string | null };

/** What came of a node. */
export interface NodeOutcome {
  /** Stored under the node's `responseKey`, where it has one. */
  readonly result: JsonValue;
  /** The data from here on, in place of the data so far, before the result is stored. */
  readonly data?: JsonObject;
  readonly next: NextNode;
}

/** Runs one type of nodes. A type is run if and only if `NodeExecutorsService` knows one for it. */
export interface NodeExecutor {
  readonly type: ExecutedNodeType;
  /** Whether it works on `inputBody`. */
  readonly takesInput: boolean;
  /**
   * @throws WorkflowFailedError when the definition or the data do not allow it; anything else means that the run was
   * interrupted and may be tried again
   */
  execute(node: RunnableNode, context: NodeContext): Promise<NodeOutcome>;
}

export const OVER_THE_SEQUENCE: NextNode = { kind: 'SEQUENCE' };
