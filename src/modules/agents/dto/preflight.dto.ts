import { ApiProperty } from '@nestjs/swagger';
import type { NodePreflight } from '../resolution/preflight.types.js';
import {
  ResolvedSystemState,
  ResolvedToolState,
  type ResolvedSystem,
  type ResolvedTool,
} from '../resolution/resolution.types.js';

const SYSTEM_REASONS = {
  [ResolvedSystemState.Ready]: null,
  [ResolvedSystemState.Missing]: 'There is no such MCP system in the application or in its libraries.',
  [ResolvedSystemState.NeverTested]: 'Its connection was never tested, so its tools are not known.',
  [ResolvedSystemState.ToolsNotInBuild]: 'It had no tools when the build was made; make another build.',
} as const;

const TOOL_REASONS = {
  [ResolvedToolState.Ready]: null,
  [ResolvedToolState.Gone]: 'The server does not list it any more.',
  [ResolvedToolState.Changed]: 'Its definition changed and waits for review.',
  [ResolvedToolState.DisabledInBuild]: 'It was disabled when the build was made; make another build.',
  [ResolvedToolState.Disabled]: 'It is disabled.',
} as const;

/** A tool that an agent refers to. */
export class PreflightToolDto {
  @ApiProperty({ format: 'uuid', description: 'Tool id.' })
  toolId: string;

  @ApiProperty({ description: 'Tool name.', example: 'get-sum' })
  name: string;

  @ApiProperty({
    enum: ResolvedToolState,
    enumName: 'ResolvedToolState',
    description: 'Whether the agent may call it, and why not.',
    example: ResolvedToolState.Disabled,
  })
  state: ResolvedToolState;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Why it is not ready, for a person; null when it is.',
    example: 'It is disabled.',
  })
  reason: string | null;
}

/** A system that an agent refers to. */
export class PreflightSystemDto {
  @ApiProperty({ description: 'Application that brings it.', example: 'sample' })
  appId: string;

  @ApiProperty({ description: 'Its definition id; empty when the node names it otherwise.' })
  resourceDefinitionId: string;

  @ApiProperty({ description: 'Its resource name; empty when it is missing and the node does not tell.' })
  resourceName: string;

  @ApiProperty({
    enum: ResolvedSystemState,
    enumName: 'ResolvedSystemState',
    description: 'Whether the agent can use it at all.',
  })
  state: ResolvedSystemState;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Why it cannot be used, for a person; null when it can.',
    example: null,
  })
  reason: string | null;

  @ApiProperty({ type: () => [PreflightToolDto], description: 'In the order of the list of its server.' })
  tools: PreflightToolDto[];
}

/** An agent node. */
export class PreflightNodeDto {
  @ApiProperty({ description: 'Name of the workflow.', example: 'check_stock' })
  workflow: string;

  @ApiProperty({ description: 'Id of the node.', example: 'agent' })
  nodeId: string;

  @ApiProperty({ description: 'Name of the node.', example: 'Ask the stock' })
  nodeName: string;

  @ApiProperty({
    description:
      'Whether a tool is ready, not more of them than AGENT_MAX_TOOLS, and each of its systems was tested before the build was made.',
  })
  ready: boolean;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Why it is not ready, for a person; null when it is.',
    example: null,
  })
  reason: string | null;

  @ApiProperty({ type: () => [PreflightSystemDto], description: 'In the order of `mcpServers`.' })
  systems: PreflightSystemDto[];
}

/** All agent nodes of a version or of a build. */
export class PreflightResponseDto {
  @ApiProperty({ description: 'Whether every node is ready.', example: false })
  ready: boolean;

  @ApiProperty({ type: () => [PreflightNodeDto], description: 'Nodes of type CUSTOM_AGENT.' })
  nodes: PreflightNodeDto[];
}

export function toPreflight(nodes: NodePreflight[]): PreflightResponseDto {
  return { ready: nodes.every(({ obstacle }) => obstacle === null), nodes: nodes.map(toNode) };
}

function toNode({ workflow, nodeId, nodeName, obstacle, systems }: NodePreflight): PreflightNodeDto {
  const reason = obstacle?.message ?? null;
  return { workflow, nodeId, nodeName, ready: reason === null, reason, systems: systems.map(toSystem) };
}

function toSystem({
  appId,
  resourceDefinitionId,
  resourceName,
  state,
  tools,
}: ResolvedSystem): PreflightSystemDto {
  const reason = SYSTEM_REASONS[state];
  return { appId, resourceDefinitionId, resourceName, state, reason, tools: tools.map(toTool) };
}

function toTool({ toolId, name, state }: ResolvedTool): PreflightToolDto {
  return { toolId, name, state, reason: TOOL_REASONS[state] };
}
