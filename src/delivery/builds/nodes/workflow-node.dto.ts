import { Answer, AnswerWith, Shows, shows } from '../../../platform/openapi/answer-fields.decorators.js';
import { UserReferenceDto } from '../../../platform/user/user-reference.dto.js';
import { JsonText } from '../../../platform/http/json-replies.js';
import type { YieldingWork } from '#engine/support';
import { NODE_TYPES } from '../../packages/schema/node-types.types.js';
import type { DraftNode } from '../../packages/drafts/draft-workflows.js';

/** Position of a node in an editor. */
export class LayoutOptionsDto extends Answer({
  x: Shows.decimal('Distance from the left.', 200),
  y: Shows.decimal('Distance from the top.', 0),
}) {}

/** A branch of a CONDITION. */
export class WorkflowConditionDto extends Answer({
  id: Shows.value('Unique among the conditions of the node.', 'yes'),
  expression: Shows.textOrNull(
    'CEL expression over the data; null for the default branch.',
    'payment.share <= 0.4',
  ),
  nextNodeId: Shows.value('Node that runs next.', 'low'),
  order: Shows.number('The first condition in this order that is true applies.', 1),
  isDefault: Shows.flag('Taken when no condition is true.', false),
}) {}

/** A connection to the next node. */
export class WorkflowSequenceDto extends Answer({
  id: Shows.value('Unique in the workflow.', 's1'),
  sourceNodeId: Shows.value('This node.', 'agent'),
  targetNodeId: Shows.value('The next node.', 'end'),
}) {}

/** An MCP system that an agent may use. */
export class McpServerReferenceDto extends Answer({
  resourceDefinitionId: Shows.value('Definition id of the system.'),
  appId: Shows.value('Application of the system: that of the package or a library.', 'sample'),
}) {}

/** What makes a node an agent (docs/contract.md, section 5). */
export class AiOptionsDto extends Answer({
  aiType: shows({ enum: ['CUSTOM_AGENT'] })('Kind of agent.'),
  aiSubType: Shows.textOrNull('Stored as sent.', null),
  operationPrompt: Shows.value(
    'The task of the agent; may contain `${…}` references to data.',
    'Is ${item} in stock?',
  ),
  exampleOutputJsonSchema: Shows.object('JSON Schema (2020-12) of the answer.'),
  mcpServers: Shows.list(() => McpServerReferenceDto, 'Systems whose enabled tools it may use.'),
}) {}

/** A node of a workflow (docs/contract.md, section 5); nodes of other types have the same members. */
export class WorkflowNodeDto extends Answer({
  id: Shows.value('Unique in the workflow.', 'agent'),
  svcUuid: Shows.uuid('The same in every version of the application.'),
  type: shows({ enum: [...NODE_TYPES], enumName: 'WorkflowNodeType' })('What the node does.', 'CUSTOM_AGENT'),
  name: Shows.value('Unique in the workflow.', 'Check stock'),
  layoutOptions: Shows.part(() => LayoutOptionsDto, 'Position in an editor.'),
  conditions: Shows.list(() => WorkflowConditionDto, 'CONDITION only.'),
  outgoingSequences: Shows.list(() => WorkflowSequenceDto, 'Connections to the next nodes.'),
  inputBody: Shows.value('JSON text with `${…}` references; empty for all data.', '{}'),
  outputBody: Shows.textOrNull('END: JSON text with `${…}` references.'),
  payload: Shows.objectOrNull('Other settings of this type of node.'),
  responseKey: Shows.value('Path under which the result is stored; empty for none.', 'stock'),
  aiOptions: Shows.partOrNull(() => AiOptionsDto, 'CUSTOM_AGENT only, null otherwise.'),
  workflowResourceId: Shows.uuid('Resource id of the workflow.'),
  subWorkflowResourceDefinitionId: Shows.textOrNull('SUBWORKFLOW: definition id of the workflow to run.'),
  subWorkflowNodeType: Shows.textOrNull('Stored as sent.', null),
  createdDate: Shows.moment('Time at which the node was first stored.'),
  modifiedDate: Shows.moment('Time of the last change.'),
  createdBy: Shows.part(() => UserReferenceDto, 'User who first stored it.'),
  modifiedBy: Shows.part(() => UserReferenceDto, 'User who last changed it.'),
}) {}

export class WorkflowSummaryDto extends Answer({
  name: Shows.value('Unique in the version, ignoring case.', 'rate_application'),
  description: Shows.value('Description; may be empty.'),
  resourceId: Shows.uuid('Unique to this version and its builds.'),
  resourceDefinitionId: Shows.uuid('The same in every version of the application.'),
  nodeCount: Shows.number('Number of nodes.', 3),
}) {}

export class WorkflowListDto extends Answer({
  workflows: Shows.list(() => WorkflowSummaryDto, 'In the order of the package.'),
}) {}

export class WorkflowDto extends AnswerWith(WorkflowSummaryDto, {
  inputSchema: Shows.objectOrNull('JSON Schema of the input.'),
  outputSchema: Shows.objectOrNull('JSON Schema of the output.'),
  nodes: Shows.list(() => WorkflowNodeDto, 'In the order of the package.'),
}) {}

/** A workflow of a version, with definition ids added to its references. */
export type ShownWorkflow = Omit<WorkflowDto, 'nodes'> & { nodes: DraftNode[] };

/** A node of a workflow of a version, with the entity tag of its state. */
export interface ShownNode {
  node: DraftNode;
  workflowResourceId: string;
  /** Entity tag (RFC 9110, section 8.8.3), quotes included. */
  etag: string;
}

/** Serializes a WorkflowDto in steps, because it can have many megabytes. */
export function* workflowJson({ nodes, ...head }: ShownWorkflow): YieldingWork<JsonText> {
  const texts: Buffer[] = [];
  for (const node of nodes) {
    const comma = texts.length === 0 ? '' : ',';
    const shown = toWorkflowNode({ node, workflowResourceId: head.resourceId });
    texts.push(Buffer.from(comma + JSON.stringify(shown)));
    yield;
  }
  const before = Buffer.from(`${JSON.stringify(head).slice(0, -1)},"nodes":[`);
  return new JsonText(Buffer.concat([before, ...texts, Buffer.from(']}')]));
}

/** Converts a stored node, which has the members of an answer except optional ones. */
export function toWorkflowNode({ node, workflowResourceId }: Omit<ShownNode, 'etag'>): WorkflowNodeDto {
  const { svcUuid, inputBody, responseKey, aiOptions } = node;
  return {
    ...node,
    svcUuid: svcUuid ?? '',
    inputBody: inputBody ?? '',
    responseKey: responseKey ?? '',
    aiOptions: aiOptions && {
      ...aiOptions,
      mcpServers: aiOptions.mcpServers.map(({ resourceDefinitionId, appId }) => ({
        resourceDefinitionId: resourceDefinitionId ?? '',
        appId: appId ?? '',
      })),
    },
    workflowResourceId,
  };
}
