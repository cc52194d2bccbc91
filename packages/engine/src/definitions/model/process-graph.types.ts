import { z } from 'zod';
import type { JsonObject } from '../../json/json.js';

const indexRule = z.int().min(0);
const jsonOrNull = z.record(z.string(), z.unknown()).nullable();
const textOrNull = z.string().nullable();

const copySchema = z
  .union([
    z.strictObject({ mode: z.literal('ALL') }),
    z.strictObject({ mode: z.literal('ONLY'), keys: z.array(z.string()) }),
    z.strictObject({ mode: z.literal('EXCEPT'), keys: z.array(z.string()) }),
  ])
  .meta({
    id: 'CopyRule',
    description: 'Data that a child process starts with: all, only these paths, or all but these.',
  });

const eventSchema = z
  .union([
    z.strictObject({ type: z.literal('NONE') }),
    z.strictObject({ type: z.literal('TERMINATE') }),
    // The expression may contain `${…}` references (BPMN 2.0.2, 10.5.5.4, ISO 8601).
    z.strictObject({
      type: z.literal('TIMER'),
      timer: z.strictObject({ type: z.enum(['DATE', 'DURATION', 'CYCLE']), expression: z.string() }),
    }),
    // `correlation` is a CEL expression; null for none. Both sides must have equal values, compared as text.
    z.strictObject({ type: z.literal('MESSAGE'), message: z.string(), correlation: textOrNull }),
    // With a null `code` it catches every error.
    z.strictObject({ type: z.literal('ERROR'), code: textOrNull }),
  ])
  .meta({ id: 'EventDefinition', description: 'What an event waits for or throws.' });

const operationSchema = z
  .union([
    // Stores its body: the input of the caller for a manual action, `data` (a JSON template) for an automatic one.
    z.strictObject({ kind: z.literal('SAVE_DATA'), data: jsonOrNull }),
    // Runs a workflow of the build. `input` is a JSON template, null for all data. The output is stored under `resultKey`.
    z.strictObject({
      kind: z.literal('START_WORKFLOW'),
      workflow: z.string(),
      appId: textOrNull,
      input: jsonOrNull,
      resultKey: textOrNull,
    }),
    // Starts another process of the build without waiting for it.
    z.strictObject({
      kind: z.literal('START_SUBPROCESS'),
      process: z.string(),
      appId: textOrNull,
      startCondition: textOrNull,
      copy: copySchema,
    }),
    // Copies values of this process to its parent: path in this process -> path in the parent.
    z.strictObject({ kind: z.literal('APPEND_TO_PARENT'), paths: z.record(z.string(), z.string()) }),
    z.strictObject({
      kind: z.literal('SEND_MESSAGE'),
      message: z.string(),
      correlation: textOrNull,
      payload: jsonOrNull,
    }),
  ])
  .meta({ id: 'ActionOperation', description: 'What an action does when it runs.' });

/** An action of a node (docs/process-semantics.md, section 6). */
const actionSchema = z
  .strictObject({
    svcUuid: z.string(),
    name: z.string().describe('Unique in its node.'),
    /** Position among its siblings, ascending. */
    order: z.int(),
    manual: z.boolean().describe('Whether a caller executes it; otherwise it runs when the token arrives.'),
    optional: z.boolean().describe('Whether the token may leave the node before it is executed.'),
    repeatable: z.boolean(),
    /** An action with an empty list stores nothing. */
    keys: z.array(z.string()).describe('Data paths that it may store; "*" for everything.'),
    parent: textOrNull.describe('Name of the action after which it runs.'),
    autoRunChildren: z.boolean(),
    delay: textOrNull.describe('ISO 8601 duration before an automatic action runs.'),
    /** A return point (docs/contract.md, section 4.2). */
    back: z
      .strictObject({
        removeKeys: z.array(z.string()),
        restoreKeys: z.array(z.string()),
        explicit: z
          .literal(true)
          .optional()
          .describe('Whether going back requires the header `svc-back: true`.'),
      })
      .nullable()
      .describe('If not null, executing the action from a later node takes the token back.'),
    operation: operationSchema,
  })
  .meta({ id: 'Action', description: 'An action of a node.' });

const uiActionSchema = z
  .strictObject({
    svcUuid: z.string(),
    name: z.string(),
    action: z.string().describe("Name of the node's manual action."),
    body: jsonOrNull.describe('Default body, into which the body of the call is merged.'),
    /** Null for any object. */
    bodySchema: jsonOrNull.describe('JSON Schema (2020-12) of the body.'),
    excludeKeys: z.array(z.string()).describe('Paths of the body that are dropped.'),
  })
  .meta({ id: 'UiAction', description: 'A UI action, which callers execute.' });

const callSchema = z
  .strictObject({
    process: z.string(),
    appId: textOrNull.describe('Library application; null for the application of the process.'),
    startCondition: textOrNull,
    /** Whether the token waits for the end of the called process. */
    waits: z.boolean(),
    copy: copySchema,
    /** Path under which the result is stored: the child's `result` value or, without one, all its data. Null for nothing. */
    outputKey: textOrNull,
    /** How often it runs (BPMN 2.0.2, 13.3.7). */
    multiInstance: z
      .strictObject({ collection: z.string().describe('CEL expression of a list.'), sequential: z.boolean() })
      .nullable(),
  })
  .meta({ id: 'CallTarget', description: 'What a call activity starts.' });

/** A node of a process. Nodes and flows are referred to by position. Kinds are named as in BPMN 2.0.2, clauses 10 and 13. */
const nodeSchema = z
  .strictObject({
    index: indexRule.describe('Position in "nodes".'),
    id: z.int().min(0).describe('Number shown to callers; 0 until a build assigns it.'),
    key: z.string().describe('Id of the BPMN element.'),
    svcUuid: z.string(),
    name: textOrNull,
    kind: z.enum([
      'START_EVENT',
      'END_EVENT',
      'INTERMEDIATE_CATCH_EVENT',
      'INTERMEDIATE_THROW_EVENT',
      'BOUNDARY_EVENT',
      'TASK',
      'USER_TASK',
      'SEND_TASK',
      'RECEIVE_TASK',
      'EXCLUSIVE_GATEWAY',
      'PARALLEL_GATEWAY',
      'INCLUSIVE_GATEWAY',
      'EVENT_BASED_GATEWAY',
      'SUB_PROCESS',
      'CALL_ACTIVITY',
    ]),
    event: eventSchema.nullable(),
    scope: indexRule.nullable().describe('Enclosing embedded subprocess; null at the top level.'),
    /** Null outside lanes. */
    lane: indexRule.nullable(),
    incoming: z.array(indexRule),
    outgoing: z.array(indexRule),
    /** Flow taken when no conditional one is. */
    defaultFlow: indexRule.nullable(),
    /** Start events: value of `startCondition` that selects it. */
    startCondition: textOrNull,
    startPermissions: z
      .array(z.string())
      .optional()
      .describe(
        'Permissions, one of which a request requires to start here; absent if the model names none.',
      ),
    /** SUB_PROCESS: its start events. */
    starts: z.array(indexRule),
    /** Activities: attached boundary events; error events in the order in which they are tried. */
    boundaries: z.array(indexRule),
    /** BOUNDARY_EVENT: its activity, whether it interrupts the activity, and an additional CEL condition of error events. */
    attachedTo: indexRule.nullable(),
    interrupting: z.boolean(),
    condition: textOrNull,
    /** Whether back actions may cross the node (docs/process-semantics.md, section 8). */
    canGoBack: z.boolean(),
    actions: z.array(actionSchema),
    uiActions: z.array(uiActionSchema),
    call: callSchema.nullable(),
    /** RECEIVE_TASK: ISO 8601 duration after which the token continues without the message; null to wait forever. */
    timeout: textOrNull,
  })
  .meta({
    id: 'Node',
    description: 'A node of a process; nodes, flows and lanes refer to each other by position.',
  });

/** Schema of compiled process definitions. */
export const processGraphSchema = z
  .strictObject({
    format: z.literal(1),
    svcUuid: z.string().describe('Id of the process, the same in every version of the application.'),
    key: z.string().describe('Id of the BPMN process.'),
    name: z.string().describe('Name in the path of the start endpoint.'),
    nodes: z.array(nodeSchema),
    flows: z.array(
      z
        .strictObject({
          index: indexRule,
          key: z.string(),
          source: indexRule,
          target: indexRule,
          condition: textOrNull.describe('CEL expression; null for an unconditional flow.'),
        })
        .meta({ id: 'Flow', description: 'A sequence flow.' }),
    ),
    lanes: z.array(
      z
        .strictObject({
          key: z.string(),
          name: textOrNull,
          execute: z
            .array(z.string())
            .describe('Permissions, one of which a caller requires; empty for none.'),
        })
        .meta({ id: 'Lane', description: 'A lane.' }),
    ),
    starts: z.array(indexRule).describe('Top-level start events.'),
    inputSchema: jsonOrNull.describe('JSON Schema (2020-12) of the start body.'),
    expiresAfter: textOrNull.describe('ISO 8601 duration after which a running instance expires.'),
    searchable: z
      .array(z.string())
      .optional()
      .describe('Data paths by whose values instances can be found; absent if there are none.'),
  })
  .meta({ description: 'A process definition as it runs, compiled from BPMN.' });

/** A process definition as it runs: plain JSON, compiled once when a package is checked. */
export type ProcessGraph = z.output<typeof processGraphSchema>;
/** One node of a process. `index` is its position in `nodes`; everything else refers to nodes and flows by index. */
export type GraphNode = ProcessGraph['nodes'][number];
/** Kind of a node. */
export type NodeKind = GraphNode['kind'];
/** A sequence flow. */
export type GraphFlow = ProcessGraph['flows'][number];
/** A lane; `execute` lists permissions, one of which a caller requires to start or act in it. Empty for none. */
export type GraphLane = ProcessGraph['lanes'][number];
/** Event that a node waits for or throws; NONE for a plain event. */
export type EventDefinition = NonNullable<GraphNode['event']>;
/** When a timer event fires. */
export type TimerDefinition = Extract<EventDefinition, { type: 'TIMER' }>['timer'];
/** An action of a node (docs/process-semantics.md, section 6). */
export type GraphAction = GraphNode['actions'][number];
/** Operation that an action performs. */
export type ActionOperation = GraphAction['operation'];
/** Action of a front end, bound to a manual action of its node. */
export type GraphUiAction = GraphNode['uiActions'][number];
/** Process that a call activity starts. */
export type CallTarget = NonNullable<GraphNode['call']>;
/** Data that a child process starts with: all, only these paths, or all but these. */
export type CopyRule = CallTarget['copy'];
/** Multi-instance settings of a call activity (BPMN 2.0.2, 13.3.7). */
export type MultiInstance = NonNullable<CallTarget['multiInstance']>;

/** A problem of a definition. Errors make the package invalid; warnings are only reported. */
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
