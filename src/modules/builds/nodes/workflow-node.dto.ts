import { ApiProperty } from '@nestjs/swagger';
import { Shows } from '../../../common/answer-fields.decorators.js';
import { UserReferenceDto } from '../../../common/user/user-reference.dto.js';
import { JsonText } from '../../../common/http/json-replies.js';
import type { Steps } from '../../../common/turns.js';
import { NODE_TYPES } from '../../packages/schema/node-types.types.js';
import type { DraftNode } from '../../packages/drafts/draft-workflows.js';

/** Place of a node in an editor. */
export class LayoutOptionsDto {
  @Shows.value('To the right.', 200)
  x: number;

  @Shows.value('Downwards.', 0)
  y: number;
}

/** A branch of a CONDITION. */
export class WorkflowConditionDto {
  @Shows.value('Unique among the conditions of the node.', 'yes')
  id: string;

  @Shows.textOrNull('CEL over the data; null for the default.', 'payment.share <= 0.4')
  expression: string | null;

  @Shows.value('Node to go on with.', 'low')
  nextNodeId: string;

  @Shows.number('The first true condition in this order wins.', 1)
  order: number;

  @Shows.value('Taken when no condition is true.', false)
  isDefault: boolean;
}

/** Where a run goes on after a node. */
export class WorkflowSequenceDto {
  @Shows.value('Unique in the workflow.', 's1')
  id: string;

  @Shows.value('This node.', 'agent')
  sourceNodeId: string;

  @Shows.value('The node it leads to.', 'end')
  targetNodeId: string;
}

/** An MCP system that an agent may use. */
export class McpServerReferenceDto {
  @Shows.value('Definition id of the system.')
  resourceDefinitionId: string;

  @Shows.value('Its application: that of the package, or a library.', 'sample')
  appId: string;
}

/** What makes a node an agent (docs/contract.md, section 5). */
export class AiOptionsDto {
  @ApiProperty({ enum: ['CUSTOM_AGENT'], description: 'Kind of agent.' })
  aiType: string;

  @Shows.textOrNull('Kept as it was sent.', null)
  aiSubType: string | null;

  @Shows.value('The task of the agent; may contain `${…}` references to data.', 'Is ${item} in stock?')
  operationPrompt: string;

  @Shows.object('JSON Schema (2020-12) of the answer.')
  exampleOutputJsonSchema: Record<string, unknown>;

  @Shows.list(() => McpServerReferenceDto, 'Systems whose enabled tools it may use.')
  mcpServers: McpServerReferenceDto[];
}

/** A node of a workflow (docs/contract.md, section 5); nodes of other types have the same members. */
export class WorkflowNodeDto {
  @Shows.value('Unique in the workflow.', 'agent')
  id: string;

  @Shows.uuid('The same in every version of the application.')
  svcUuid: string;

  @Shows.enum('WorkflowNodeType', [...NODE_TYPES], 'What the node does.', 'CUSTOM_AGENT')
  type: string;

  @Shows.value('Unique in the workflow.', 'Ask the stock')
  name: string;

  @Shows.part(() => LayoutOptionsDto, 'Place in an editor.')
  layoutOptions: LayoutOptionsDto;

  @Shows.list(() => WorkflowConditionDto, 'CONDITION only.')
  conditions: WorkflowConditionDto[];

  @Shows.list(() => WorkflowSequenceDto, 'Where a run goes on.')
  outgoingSequences: WorkflowSequenceDto[];

  @Shows.value('JSON text with `${…}` references; empty for all data.', '{}')
  inputBody: string;

  @Shows.textOrNull('END: JSON text with `${…}` references.')
  outputBody: string | null;

  @Shows.objectOrNull('What else the type of node needs.')
  payload: Record<string, unknown> | null;

  @Shows.value('Path under which the result is stored; empty for none.', 'stock')
  responseKey: string;

  @Shows.partOrNull(() => AiOptionsDto, 'CUSTOM_AGENT only, null otherwise.')
  aiOptions: AiOptionsDto | null;

  @Shows.uuid('Resource id of the workflow.')
  workflowResourceId: string;

  @Shows.textOrNull('SUBWORKFLOW: definition id of the workflow to run.')
  subWorkflowResourceDefinitionId: string | null;

  @Shows.textOrNull('Kept as it was sent.', null)
  subWorkflowNodeType: string | null;

  @Shows.moment('When the node was first stored.')
  createdDate: string;

  @Shows.moment('When it was last stored with other content.')
  modifiedDate: string;

  @Shows.part(() => UserReferenceDto, 'Who stored it first.')
  createdBy: UserReferenceDto;

  @Shows.part(() => UserReferenceDto, 'Who stored it with other content last.')
  modifiedBy: UserReferenceDto;
}

/** A workflow in a list. */
export class WorkflowSummaryDto {
  @Shows.value('Unique in the version, without regard to case.', 'rate_application')
  name: string;

  @Shows.value('For people; may be empty.')
  description: string;

  @Shows.uuid('The same in this version and its builds, and in no other.')
  resourceId: string;

  @Shows.uuid('The same in every version of the application.')
  resourceDefinitionId: string;

  @Shows.number('How many nodes it has.', 3)
  nodeCount: number;
}

/** The workflows of a version. */
export class WorkflowListDto {
  @Shows.list(() => WorkflowSummaryDto, 'In the order of the package.')
  workflows: WorkflowSummaryDto[];
}

/** A workflow with its nodes. */
export class WorkflowDto extends WorkflowSummaryDto {
  @Shows.objectOrNull('JSON Schema of the input.')
  inputSchema: Record<string, unknown> | null;

  @Shows.objectOrNull('JSON Schema of the output.')
  outputSchema: Record<string, unknown> | null;

  @Shows.list(() => WorkflowNodeDto, 'In the order of the package.')
  nodes: WorkflowNodeDto[];
}

/** A workflow of a version, its references completed by definition ids. */
export type ShownWorkflow = Omit<WorkflowDto, 'nodes'> & { nodes: DraftNode[] };

/** A node of a workflow of a version, with the entity tag of its state. */
export interface ShownNode {
  node: DraftNode;
  workflowResourceId: string;
  /** Entity tag (RFC 9110, section 8.8.3), quotes included. */
  etag: string;
}

/** A WorkflowDto: it can have many megabytes, which are too much to be written in one go. */
export function* workflowJson({ nodes, ...head }: ShownWorkflow): Steps<JsonText> {
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

/** A node as it is stored has the members of an answer, but for those that may be left out. */
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
