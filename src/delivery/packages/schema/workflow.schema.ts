import { NODE_TYPES } from './node-types.types.js';
import { nearestName } from '#engine/support';
import { z } from 'zod';
import { isDotSegment, NO_DOT_SEGMENT } from '../../../platform/validation/patterns.decorators.js';
import {
  fileRule,
  idRule,
  jsonObjectRule,
  jsonTemplateRule,
  noDotSegment,
  resourceNameRule,
  textRule,
} from './rules.js';

const BODY_MAX_LENGTH = 262_144;
const PROMPT_MAX_LENGTH = 65_536;

/** Names a system or a workflow: by its definition id, or by its name. */
export const referenceSchema = z
  .strictObject({
    resourceDefinitionId: idRule
      .nullable()
      .optional()
      .describe('Definition id; known after the first delivery.'),
    resourceName: resourceNameRule
      .nullable()
      .optional()
      .describe('Name of the system or workflow, where the definition id is not known.'),
    appId: idRule
      .nullable()
      .optional()
      .describe('Application of a library dependency; without it, the application of the package.'),
  })
  .meta({ id: 'Reference', description: 'A system or workflow of the package or of one of its libraries.' });

const conditionSchema = z
  .strictObject({
    id: idRule.describe('Unique in the node.'),
    expression: z
      .string()
      .max(4_096)
      .nullable()
      .default(null)
      .describe('CEL over the data; empty for the default.'),
    nextNodeId: idRule.describe('Node to go on with; the target of an outgoing sequence.'),
    order: z.int().min(0).max(1_000_000).describe('The first true condition in this order wins.'),
    isDefault: z.boolean().default(false).describe('Taken when no condition is true.'),
  })
  .meta({ id: 'Condition' });

const sequenceSchema = z
  .strictObject({
    id: idRule.describe('Unique in the workflow.'),
    sourceNodeId: idRule.describe('This node.'),
    targetNodeId: idRule.describe('The node that follows.'),
  })
  .meta({ id: 'Sequence' });

const aiOptionsSchema = z
  .strictObject({
    aiType: z.literal('CUSTOM_AGENT').describe('The kind of agent.'),
    aiSubType: textRule(0, 64).nullable().default(null).describe('Kept for front ends; without effect.'),
    operationPrompt: z
      .string()
      .min(1)
      .max(PROMPT_MAX_LENGTH)
      .describe('The task of the agent; may contain ${…} references to data.'),
    exampleOutputJsonSchema: jsonObjectRule.describe('JSON Schema (2020-12) of the answer.'),
    mcpServers: z.array(referenceSchema).describe('MCP systems whose enabled tools the agent may use.'),
  })
  .meta({ id: 'AiOptions', description: 'Options of the model of a Custom Agent node.' });

const userSchema = jsonObjectRule.nullable().optional();
const ignored = 'Written by the service; ignored in a package.';

/** A node of a workflow, in the shape of the contract's Custom Agent node. */
export const workflowNodeSchema = z
  .strictObject({
    id: idRule.describe('Unique in the workflow.'),
    svcUuid: z
      .string()
      .regex(/^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/, 'must be a UUID')
      .nullable()
      .default(null)
      .describe('Given by the service when null.'),
    type: z
      .string()
      .regex(/^[A-Z][A-Z0-9_]{0,63}$/, {
        error: ({ input }) =>
          `must be a node type such as "${nearestName(String(input), NODE_TYPES) ?? 'CUSTOM_AGENT'}"`,
      })
      // In the published schema alone: the check tells of another type where it is, and what there is instead.
      .meta({ description: 'What the node does.', enum: NODE_TYPES }),
    name: textRule(1, 255).describe('Unique in the workflow.'),
    layoutOptions: z
      .strictObject({ x: z.number(), y: z.number() })
      .default({ x: 0, y: 0 })
      .describe('Place in an editor.'),
    conditions: z.array(conditionSchema).default([]).describe('CONDITION only.'),
    outgoingSequences: z.array(sequenceSchema).default([]).describe('Where the workflow goes on.'),
    inputBody: jsonTemplateRule(BODY_MAX_LENGTH)
      .nullable()
      .default(null)
      .describe('JSON or JSON text with ${…} references: what the node works on.'),
    outputBody: jsonTemplateRule(BODY_MAX_LENGTH)
      .nullable()
      .default(null)
      .describe('END: JSON or JSON text with ${…} references, the output of the workflow; all data without.'),
    payload: jsonObjectRule.nullable().default(null).describe('What else the type of node needs.'),
    responseKey: z
      .string()
      .max(1_024)
      .nullable()
      .default(null)
      .describe('Path under which the result of the node is stored.'),
    aiOptions: aiOptionsSchema.nullable().default(null).describe('CUSTOM_AGENT only.'),
    subWorkflowResourceDefinitionId: idRule
      .nullable()
      .default(null)
      .describe('SUBWORKFLOW: the workflow to run.'),
    subWorkflowNodeType: textRule(0, 64)
      .nullable()
      .default(null)
      .describe('Kept for front ends; without effect.'),
    workflowResourceId: z.string().max(64).nullable().optional().describe(ignored),
    createdDate: z.string().max(64).nullable().optional().describe(ignored),
    modifiedDate: z.string().max(64).nullable().optional().describe(ignored),
    createdBy: userSchema.describe(ignored),
    modifiedBy: userSchema.describe(ignored),
  })
  .meta({ id: 'WorkflowNode', description: 'A node of a workflow.' });

/** `workflows/*.json` of a package. */
export const workflowSchema = z
  .strictObject({
    $schema: z.string().max(2_048).optional().describe('For editors; ignored.'),
    file: fileRule('workflows', 'json')
      .optional()
      .describe('Where it stands in the folder; workflows/NAME.json without.'),
    name: resourceNameRule
      .refine((name) => !isDotSegment(name), NO_DOT_SEGMENT)
      .meta(noDotSegment)
      .describe('Name by which actions and other workflows start it; unique in the package.'),
    description: textRule(0, 2_000).default('').describe('What the workflow is for.'),
    inputSchema: jsonObjectRule.nullable().default(null).describe('JSON Schema (2020-12) of the input.'),
    outputSchema: jsonObjectRule.nullable().default(null).describe('JSON Schema (2020-12) of the output.'),
    nodes: z.array(workflowNodeSchema).describe('Its nodes.'),
  })
  .meta({ id: 'Workflow', description: 'A workflow: workflows/*.json.' });
