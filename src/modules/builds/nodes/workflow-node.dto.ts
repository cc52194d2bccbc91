import { ApiProperty } from '@nestjs/swagger';
import { UserReferenceDto } from '../../../common/user/user-reference.dto.js';
import type { DraftNode } from '../model/draft-workflows.js';
import type { ShownNode, ShownWorkflow } from './workflow-nodes.types.js';

const OBJECT = { type: 'object', additionalProperties: true } as const;

/** Place of a node in an editor. */
export class LayoutOptionsDto {
  @ApiProperty({ description: 'To the right.', example: 200 })
  x: number;

  @ApiProperty({ description: 'Downwards.', example: 0 })
  y: number;
}

/** A branch of a CONDITION. */
export class WorkflowConditionDto {
  @ApiProperty({ description: 'Unique among the conditions of the node.', example: 'yes' })
  id: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'CEL over the data; null for the default.',
    example: 'payment.share <= 0.4',
  })
  expression: string | null;

  @ApiProperty({ description: 'Node to go on with.', example: 'low' })
  nextNodeId: string;

  @ApiProperty({ type: 'integer', description: 'The first true condition in this order wins.', example: 1 })
  order: number;

  @ApiProperty({ description: 'Taken when no condition is true.', example: false })
  isDefault: boolean;
}

/** Where a run goes on after a node. */
export class WorkflowSequenceDto {
  @ApiProperty({ description: 'Unique in the workflow.', example: 's1' })
  id: string;

  @ApiProperty({ description: 'This node.', example: 'agent' })
  sourceNodeId: string;

  @ApiProperty({ description: 'The node it leads to.', example: 'end' })
  targetNodeId: string;
}

/** An MCP system that an agent may use. */
export class McpServerReferenceDto {
  @ApiProperty({ description: 'Definition id of the system.' })
  resourceDefinitionId: string;

  @ApiProperty({ description: 'Its application: that of the package, or a library.', example: 'sample' })
  appId: string;
}

/** What makes a node an agent (docs/contract.md, section 5). */
export class AiOptionsDto {
  @ApiProperty({ enum: ['CUSTOM_AGENT'], description: 'Kind of agent.' })
  aiType: string;

  @ApiProperty({ type: String, nullable: true, description: 'Kept as it was sent.', example: null })
  aiSubType: string | null;

  @ApiProperty({
    description: 'The task of the agent; may contain `${…}` references to data.',
    example: 'Is ${item} in stock?',
  })
  operationPrompt: string;

  @ApiProperty({ ...OBJECT, description: 'JSON Schema (2020-12) of the answer.' })
  exampleOutputJsonSchema: Record<string, unknown>;

  @ApiProperty({
    type: () => [McpServerReferenceDto],
    description: 'Systems whose enabled tools it may use.',
  })
  mcpServers: McpServerReferenceDto[];
}

/** A node of a workflow (docs/contract.md, section 5); nodes of other types have the same members. */
export class WorkflowNodeDto {
  @ApiProperty({ description: 'Unique in the workflow.', example: 'agent' })
  id: string;

  @ApiProperty({ format: 'uuid', description: 'The same in every version of the application.' })
  svcUuid: string;

  @ApiProperty({
    description:
      'START, END, CONDITION, DATA_MAPPING, REST_ENDPOINT, DATA_SOURCE, SUBWORKFLOW or CUSTOM_AGENT.',
    example: 'CUSTOM_AGENT',
  })
  type: string;

  @ApiProperty({ description: 'Unique in the workflow.', example: 'Ask the stock' })
  name: string;

  @ApiProperty({ type: () => LayoutOptionsDto, description: 'Place in an editor.' })
  layoutOptions: LayoutOptionsDto;

  @ApiProperty({ type: () => [WorkflowConditionDto], description: 'CONDITION only.' })
  conditions: WorkflowConditionDto[];

  @ApiProperty({ type: () => [WorkflowSequenceDto], description: 'Where a run goes on.' })
  outgoingSequences: WorkflowSequenceDto[];

  @ApiProperty({ description: 'JSON text with `${…}` references; empty for all data.', example: '{}' })
  inputBody: string;

  @ApiProperty({ type: String, nullable: true, description: 'END: JSON text with `${…}` references.' })
  outputBody: string | null;

  @ApiProperty({
    ...OBJECT,
    type: 'object',
    nullable: true,
    description: 'What else the type of node needs.',
  })
  payload: Record<string, unknown> | null;

  @ApiProperty({ description: 'Path under which the result is stored; empty for none.', example: 'stock' })
  responseKey: string;

  @ApiProperty({
    type: () => AiOptionsDto,
    nullable: true,
    description: 'CUSTOM_AGENT only, null otherwise.',
  })
  aiOptions: AiOptionsDto | null;

  @ApiProperty({ format: 'uuid', description: 'Resource id of the workflow.' })
  workflowResourceId: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'SUBWORKFLOW: definition id of the workflow to run.',
  })
  subWorkflowResourceDefinitionId: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'Kept as it was sent.', example: null })
  subWorkflowNodeType: string | null;

  @ApiProperty({ format: 'date-time', description: 'When the node was first stored.' })
  createdDate: string;

  @ApiProperty({ format: 'date-time', description: 'When it was last stored with other content.' })
  modifiedDate: string;

  @ApiProperty({ type: () => UserReferenceDto, description: 'Who stored it first.' })
  createdBy: UserReferenceDto;

  @ApiProperty({ type: () => UserReferenceDto, description: 'Who stored it with other content last.' })
  modifiedBy: UserReferenceDto;
}

/** A workflow in a list. */
export class WorkflowSummaryDto {
  @ApiProperty({ description: 'Unique in the version, without regard to case.', example: 'rate_application' })
  name: string;

  @ApiProperty({ description: 'For people; may be empty.' })
  description: string;

  @ApiProperty({ format: 'uuid', description: 'The same in this version and its builds, and in no other.' })
  resourceId: string;

  @ApiProperty({ format: 'uuid', description: 'The same in every version of the application.' })
  resourceDefinitionId: string;

  @ApiProperty({ type: 'integer', description: 'How many nodes it has.', example: 3 })
  nodeCount: number;
}

/** The workflows of a version. */
export class WorkflowListDto {
  @ApiProperty({ type: () => [WorkflowSummaryDto], description: 'In the order of the package.' })
  workflows: WorkflowSummaryDto[];
}

/** A workflow with its nodes. */
export class WorkflowDto extends WorkflowSummaryDto {
  @ApiProperty({ ...OBJECT, type: 'object', nullable: true, description: 'JSON Schema of the input.' })
  inputSchema: Record<string, unknown> | null;

  @ApiProperty({ ...OBJECT, type: 'object', nullable: true, description: 'JSON Schema of the output.' })
  outputSchema: Record<string, unknown> | null;

  @ApiProperty({ type: () => [WorkflowNodeDto], description: 'In the order of the package.' })
  nodes: WorkflowNodeDto[];
}

export function toWorkflowList(workflows: ShownWorkflow[]): WorkflowListDto {
  return { workflows: workflows.map(toSummary) };
}

export function toWorkflow(workflow: ShownWorkflow): WorkflowDto {
  const { inputSchema, outputSchema, nodes, resourceId: workflowResourceId } = workflow;
  return {
    ...toSummary(workflow),
    inputSchema,
    outputSchema,
    nodes: nodes.map((node) => toWorkflowNode({ node, workflowResourceId })),
  };
}

export function toWorkflowNode({
  node,
  workflowResourceId,
}: Pick<ShownNode, 'node' | 'workflowResourceId'>): WorkflowNodeDto {
  return {
    id: node.id,
    svcUuid: node.svcUuid ?? '',
    type: node.type,
    name: node.name,
    layoutOptions: node.layoutOptions,
    conditions: node.conditions,
    outgoingSequences: node.outgoingSequences,
    inputBody: node.inputBody ?? '',
    outputBody: node.outputBody,
    payload: node.payload,
    responseKey: node.responseKey ?? '',
    aiOptions: toAiOptions(node),
    workflowResourceId,
    subWorkflowResourceDefinitionId: node.subWorkflowResourceDefinitionId,
    subWorkflowNodeType: node.subWorkflowNodeType,
    createdDate: node.createdDate,
    modifiedDate: node.modifiedDate,
    createdBy: node.createdBy,
    modifiedBy: node.modifiedBy,
  };
}

function toAiOptions({ aiOptions }: DraftNode): AiOptionsDto | null {
  if (aiOptions === null) {
    return null;
  }
  const { aiType, aiSubType, operationPrompt, exampleOutputJsonSchema, mcpServers } = aiOptions;
  return {
    aiType,
    aiSubType,
    operationPrompt,
    exampleOutputJsonSchema,
    mcpServers: mcpServers.map(({ resourceDefinitionId, appId }) => ({
      resourceDefinitionId: resourceDefinitionId ?? '',
      appId: appId ?? '',
    })),
  };
}

function toSummary({
  name,
  description,
  resourceId,
  resourceDefinitionId,
  nodes,
}: ShownWorkflow): WorkflowSummaryDto {
  return { name, description, resourceId, resourceDefinitionId, nodeCount: nodes.length };
}
