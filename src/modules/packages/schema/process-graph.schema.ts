import { z } from 'zod';
import { jsonObjectRule } from './rules.js';

const indexRule = z.int().min(0);
const jsonOrNull = jsonObjectRule.nullable();
const textOrNull = z.string().nullable();

const copySchema = z
  .union([
    z.strictObject({ mode: z.literal('ALL') }),
    z.strictObject({ mode: z.literal('ONLY'), keys: z.array(z.string()) }),
    z.strictObject({ mode: z.literal('EXCEPT'), keys: z.array(z.string()) }),
  ])
  .meta({
    id: 'CopyRule',
    description: 'Data that a child process starts with: all, only these paths, all but these.',
  });

const eventSchema = z
  .union([
    z.strictObject({ type: z.literal('NONE') }),
    z.strictObject({ type: z.literal('TERMINATE') }),
    z.strictObject({
      type: z.literal('TIMER'),
      timer: z.strictObject({ type: z.enum(['DATE', 'DURATION', 'CYCLE']), expression: z.string() }),
    }),
    z.strictObject({ type: z.literal('MESSAGE'), message: z.string(), correlation: textOrNull }),
    z.strictObject({ type: z.literal('ERROR'), code: textOrNull }),
  ])
  .meta({ id: 'EventDefinition', description: 'What an event waits for or throws.' });

const operationSchema = z
  .union([
    z.strictObject({ kind: z.literal('SAVE_DATA'), data: jsonOrNull }),
    z.strictObject({
      kind: z.literal('START_WORKFLOW'),
      workflow: z.string(),
      appId: textOrNull,
      input: jsonOrNull,
      resultKey: textOrNull,
    }),
    z.strictObject({
      kind: z.literal('START_SUBPROCESS'),
      process: z.string(),
      appId: textOrNull,
      startCondition: textOrNull,
      copy: copySchema,
    }),
    z.strictObject({ kind: z.literal('APPEND_TO_PARENT'), paths: z.record(z.string(), z.string()) }),
    z.strictObject({
      kind: z.literal('SEND_MESSAGE'),
      message: z.string(),
      correlation: textOrNull,
      payload: jsonOrNull,
    }),
  ])
  .meta({ id: 'ActionOperation', description: 'What an action does when it runs.' });

const actionSchema = z
  .strictObject({
    svcUuid: z.string(),
    name: z.string().describe('Unique in its node.'),
    order: z.int(),
    manual: z.boolean().describe('Runs through the interface only; otherwise on arrival of the token.'),
    optional: z.boolean().describe('Whether the token may leave without it.'),
    repeatable: z.boolean(),
    keys: z.array(z.string()).describe('Paths of data it may store; "*" is everything.'),
    parent: textOrNull.describe('Name of the action after which it runs.'),
    autoRunChildren: z.boolean(),
    delay: textOrNull.describe('ISO 8601 duration before an automatic action runs.'),
    back: z
      .strictObject({
        removeKeys: z.array(z.string()),
        restoreKeys: z.array(z.string()),
        explicit: z.literal(true).optional().describe('Only with the header `svc-back: true`.'),
      })
      .nullable()
      .describe('Not null: executing it later brings the token back.'),
    operation: operationSchema,
  })
  .meta({ id: 'Action', description: 'An action of a node.' });

const uiActionSchema = z
  .strictObject({
    svcUuid: z.string(),
    name: z.string(),
    action: z.string().describe("Name of the node's manual action."),
    body: jsonOrNull.describe('JSON that the body is merged into; values of the body win.'),
    bodySchema: jsonOrNull.describe('JSON Schema (2020-12) of the body.'),
    excludeKeys: z.array(z.string()).describe('Paths of the body that are dropped.'),
  })
  .meta({ id: 'UiAction', description: 'What a front end executes.' });

const callSchema = z
  .strictObject({
    process: z.string(),
    appId: textOrNull.describe('Application of a library dependency; null for the own one.'),
    startCondition: textOrNull,
    waits: z.boolean(),
    copy: copySchema,
    outputKey: textOrNull,
    multiInstance: z
      .strictObject({ collection: z.string().describe('CEL expression of a list.'), sequential: z.boolean() })
      .nullable(),
  })
  .meta({ id: 'CallTarget', description: 'What a call activity starts.' });

const nodeSchema = z
  .strictObject({
    index: indexRule.describe('Position in "nodes".'),
    id: z.int().min(0).describe('The number callers see; 0 until a build gives it.'),
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
    scope: indexRule.nullable().describe('The embedded subprocess it stands in.'),
    lane: indexRule.nullable(),
    incoming: z.array(indexRule),
    outgoing: z.array(indexRule),
    defaultFlow: indexRule.nullable(),
    startCondition: textOrNull,
    startPermissions: z
      .array(z.string())
      .optional()
      .describe(
        'Permissions of which a request needs one to start here; left out where the model names none.',
      ),
    starts: z.array(indexRule),
    boundaries: z.array(indexRule),
    attachedTo: indexRule.nullable(),
    interrupting: z.boolean(),
    condition: textOrNull,
    canGoBack: z.boolean(),
    actions: z.array(actionSchema),
    uiActions: z.array(uiActionSchema),
    call: callSchema.nullable(),
    timeout: textOrNull,
  })
  .meta({
    id: 'Node',
    description: 'A node of a process; nodes, flows and lanes refer to each other by position.',
  });

/** The graph that a process definition is compiled into; held equal to the type `ProcessGraph` by a test. */
export const processGraphSchema = z
  .strictObject({
    format: z.literal(1),
    svcUuid: z.string().describe('The same for the same process of an application in every version.'),
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
          condition: textOrNull.describe('CEL; null for an unconditional one.'),
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
            .describe('Permissions, one of which a caller needs; empty asks for none.'),
        })
        .meta({ id: 'Lane', description: 'A swimlane.' }),
    ),
    starts: z.array(indexRule).describe('Top-level start events.'),
    inputSchema: jsonOrNull.describe('JSON Schema (2020-12) of the start body.'),
    expiresAfter: textOrNull.describe('ISO 8601 duration after which a running instance expires.'),
    searchable: z
      .array(z.string())
      .optional()
      .describe('Paths of data by whose values instances are found; left out where there are none.'),
  })
  .meta({ description: 'A process definition as it runs, compiled from BPMN.' });
