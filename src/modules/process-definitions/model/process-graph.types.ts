import type { JsonObject } from '../../../common/json.js';

/** What a node of a compiled process does. The names are those of BPMN 2.0.2, clauses 10 and 13. */
export type NodeKind =
  | 'START_EVENT'
  | 'END_EVENT'
  | 'INTERMEDIATE_CATCH_EVENT'
  | 'INTERMEDIATE_THROW_EVENT'
  | 'BOUNDARY_EVENT'
  | 'TASK'
  | 'USER_TASK'
  | 'SEND_TASK'
  | 'RECEIVE_TASK'
  | 'EXCLUSIVE_GATEWAY'
  | 'PARALLEL_GATEWAY'
  | 'INCLUSIVE_GATEWAY'
  | 'EVENT_BASED_GATEWAY'
  | 'SUB_PROCESS'
  | 'CALL_ACTIVITY';

/** When a timer event fires; every text may hold `${…}` references (BPMN 2.0.2, 10.5.5.4, ISO 8601). */
export interface TimerDefinition {
  type: 'DATE' | 'DURATION' | 'CYCLE';
  expression: string;
}

/** What an event waits for or throws; NONE for a plain event. */
export type EventDefinition =
  | { type: 'NONE' }
  | { type: 'TERMINATE' }
  | { type: 'TIMER'; timer: TimerDefinition }
  /** `correlation` is a CEL expression; null for none. As texts, the values of both sides must be equal. */
  | { type: 'MESSAGE'; message: string; correlation: string | null }
  /** `code` null catches every error. */
  | { type: 'ERROR'; code: string | null };

/** What an action does when it runs. */
export type ActionOperation =
  /** Stores its body: the input of the caller for a manual action, `data` (a JSON template) for an automatic one. */
  | { kind: 'SAVE_DATA'; data: JsonObject | null }
  /** Runs a workflow of the build; `input` is a JSON template, null for all data; the output lands on `resultKey`. */
  | {
      kind: 'START_WORKFLOW';
      workflow: string;
      appId: string | null;
      input: JsonObject | null;
      resultKey: string | null;
    }
  /** Starts another process of the build without waiting for it. */
  | {
      kind: 'START_SUBPROCESS';
      process: string;
      appId: string | null;
      startCondition: string | null;
      copy: CopyRule;
    }
  /** Copies values of this process to its parent: path here -> path there. */
  | { kind: 'APPEND_TO_PARENT'; paths: Record<string, string> }
  | { kind: 'SEND_MESSAGE'; message: string; correlation: string | null; payload: JsonObject | null };

/** Which data a child process starts with: all, only these paths, or all but these. */
export type CopyRule =
  { mode: 'ALL' } | { mode: 'ONLY'; keys: string[] } | { mode: 'EXCEPT'; keys: string[] };

/** An action of a node (docs/process-semantics.md, section 6). */
export interface GraphAction {
  svcUuid: string;
  /** Unique in its node. */
  name: string;
  /** Position among its siblings, ascending. */
  order: number;
  /** Runs through the interface only; otherwise on arrival of the token. */
  manual: boolean;
  /** Whether the token may leave without it. Automatic actions never are. */
  optional: boolean;
  repeatable: boolean;
  /** Paths of data it may store; empty stores nothing, `*` everything. */
  keys: string[];
  /** Name of the action after which it runs; null for one that stands by itself. */
  parent: string | null;
  autoRunChildren: boolean;
  /** ISO 8601 duration to wait before an automatic action runs; null for none. */
  delay: string | null;
  /**
   * Non-null makes it a return point: executing it later brings the token back (docs/contract.md, section 4.2); with `explicit` only for
   * a caller that says so.
   */
  back: { removeKeys: string[]; restoreKeys: string[]; explicit?: true | undefined } | null;
  operation: ActionOperation;
}

/** A front end executes it. It is bound to a manual action of its node. */
export interface GraphUiAction {
  svcUuid: string;
  name: string;
  /** Name of the node's manual action. */
  action: string;
  /** JSON that the body is merged into; values of the body win. */
  body: JsonObject | null;
  /** JSON Schema (2020-12) of the body; null for any object. */
  bodySchema: JsonObject | null;
  /** Paths of the body that are dropped. */
  excludeKeys: string[];
}

/** How often a call activity runs (BPMN 2.0.2, 13.3.7). */
export interface MultiInstance {
  /** CEL expression of a list. */
  collection: string;
  sequential: boolean;
}

/** What a call activity starts. */
export interface CallTarget {
  process: string;
  /** Application of a library dependency; null for the own one. */
  appId: string | null;
  startCondition: string | null;
  /** Whether the token waits for the end of the called process. */
  waits: boolean;
  copy: CopyRule;
  /** Path under which the result is stored: the child's `result` value or, without one, all its data. Null for nothing. */
  outputKey: string | null;
  multiInstance: MultiInstance | null;
}

/** One node of a process. `index` is its position in `nodes`; everything else refers to nodes and flows by index. */
export interface GraphNode {
  index: number;
  /** The number that callers see. The node keeps it in later builds; 0 until a build gives it. */
  id: number;
  /** Id of the BPMN element. */
  key: string;
  svcUuid: string;
  name: string | null;
  kind: NodeKind;
  event: EventDefinition | null;
  /** The embedded subprocess it stands in; null at the top. */
  scope: number | null;
  /** The lane it stands in; null outside lanes. */
  lane: number | null;
  incoming: number[];
  outgoing: number[];
  /** Flow taken when no conditional one is; null without. */
  defaultFlow: number | null;
  /** Start events: value of `startCondition` that picks it; null without. */
  startCondition: string | null;
  /** Start events: permissions of which a request needs one to start here; left out where the model names none. */
  startPermissions?: string[] | undefined;
  /** SUB_PROCESS: its start events. */
  starts: number[];
  /** Activities: boundary events on it; error events in the order they are asked. */
  boundaries: number[];
  /** BOUNDARY_EVENT: its activity, whether it ends that, and a CEL condition that an error event also asks. */
  attachedTo: number | null;
  interrupting: boolean;
  condition: string | null;
  /** Whether back actions may cross the node (docs/process-semantics.md, section 8). */
  canGoBack: boolean;
  actions: GraphAction[];
  uiActions: GraphUiAction[];
  call: CallTarget | null;
  /** RECEIVE_TASK: ISO 8601 duration after which it no longer waits and goes on; null for ever. */
  timeout: string | null;
}

/** A sequence flow. */
export interface GraphFlow {
  index: number;
  key: string;
  source: number;
  target: number;
  /** CEL; null for an unconditional one. */
  condition: string | null;
}

/** A swimlane; `execute` names permissions, one of which a caller needs to start or act in it. Empty asks for none. */
export interface GraphLane {
  key: string;
  name: string | null;
  execute: string[];
}

/** A process definition as it runs: plain JSON, compiled once when a package is checked. */
export interface ProcessGraph {
  format: 1;
  /** The process of an application keeps it in every version. */
  svcUuid: string;
  /** Id of the BPMN process. */
  key: string;
  /** Name in the path of the start endpoint, unique in an application version. */
  name: string;
  nodes: GraphNode[];
  flows: GraphFlow[];
  lanes: GraphLane[];
  /** Top-level start events. */
  starts: number[];
  /** JSON Schema (2020-12) of the start body; null for any object. */
  inputSchema: JsonObject | null;
  /** ISO 8601 duration after which a running instance expires; null for never. */
  expiresAfter: string | null;
  /** Paths of data by whose values instances are found; left out where the process declares none. */
  searchable?: string[] | undefined;
}

/** Something wrong in a definition; errors refuse the package, warnings are only told. */
export interface DefinitionProblem {
  severity: 'error' | 'warning';
  /** Stable, upper snake case. */
  code: string;
  /** File of the package. */
  file: string;
  /** Id of the element or JSON pointer; null for the whole file. */
  element: string | null;
  /** The mistake, and what to change. */
  message: string;
}

/** The `outputSchema` of workflows of the same package, by their names. */
export type WorkflowOutputs = ReadonlyMap<string, JsonObject>;
