import { ApiProperty } from '@nestjs/swagger';
import type { NodePreflight } from './preflight.types.js';
import {
  ResolvedSystemState,
  ResolvedToolState,
  type ResolvedSystem,
  type ResolvedTool,
} from './resolution.types.js';
import { systemReason, toolReason } from './preflight-reasons.js';

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
  @ApiProperty({
    description: 'Application that the node is of; another than that of the path for a library.',
    example: 'sample',
  })
  appId: string;

  @ApiProperty({ description: 'Version that the node is of.', example: 'v1' })
  appVersionId: string;

  @ApiProperty({
    type: String,
    format: 'uuid',
    nullable: true,
    description: 'Build that the node is of; null for a node of the version that is asked for.',
    example: null,
  })
  buildId: string | null;

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

/** All agent nodes of a version or of a build, and of its libraries. */
export class PreflightResponseDto {
  @ApiProperty({ description: 'Whether every node is ready.', example: false })
  ready: boolean;

  @ApiProperty({
    type: () => [PreflightNodeDto],
    description: 'Nodes of type CUSTOM_AGENT, those of libraries last.',
  })
  nodes: PreflightNodeDto[];
}

export function toPreflight(nodes: NodePreflight[]): PreflightResponseDto {
  return { ready: nodes.every(({ obstacle }) => obstacle === null), nodes: nodes.map(toNode) };
}

function toNode(node: NodePreflight): PreflightNodeDto {
  const { appId, appVersionId, buildId, workflow, nodeId, nodeName, obstacle, systems } = node;
  const reason = obstacle?.message ?? null;
  return {
    appId,
    appVersionId,
    buildId,
    workflow,
    nodeId,
    nodeName,
    ready: reason === null,
    reason,
    systems: systems.map((system) => toSystem(system, node)),
  };
}

function toSystem(system: ResolvedSystem, node: NodePreflight): PreflightSystemDto {
  const { appId, resourceDefinitionId, resourceName, state, tools } = system;
  const build = buildOf(system, node);
  return {
    appId,
    resourceDefinitionId,
    resourceName,
    state,
    reason: systemReason(state, build),
    tools: tools.map((tool) => toTool(tool, build)),
  };
}

function toTool(tool: ResolvedTool, build: string): PreflightToolDto {
  const { toolId, name, state } = tool;
  return { toolId, name, state, reason: toolReason(tool, build) };
}

/** What must be built anew for other tools of a system: those of a library are in the build of the library. */
function buildOf(system: ResolvedSystem, node: NodePreflight): string {
  return system.appId === node.appId && !node.isLibrary
    ? 'another build'
    : `another build of the library "${system.appId}", and one of the application that names it`;
}
