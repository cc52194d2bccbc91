import { ApiProperty } from '@nestjs/swagger';
import { IsFlag, IsPathId } from '../../../common/validation/patterns.decorators.js';
import { SystemParams } from '../../systems/model/path.params.dto.js';
import type { SwitchedTool, ToolUse } from '../model/tool.types.js';

/** Path of one tool. */
export class ToolParams extends SystemParams {
  @IsPathId({
    description: 'Id of the system; it must be the one that `systemResourceId` names.',
    example: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b0f',
  })
  systemId: string;

  @IsPathId({ description: 'Id of the tool.', example: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20' })
  toolId: string;
}

/** The switch of a tool (docs/contract.md, section 2.5). */
export class SwitchToolRequestDto {
  @IsFlag({ description: 'true lets agents call the tool, false stops them.', example: false })
  enabled: boolean;
}

/** The tool in the answer. */
export class SwitchedToolDto {
  @ApiProperty({ format: 'uuid', description: 'Tool id.' })
  id: string;

  @ApiProperty({ description: 'Tool name.', example: 'get-sum' })
  name: string;

  @ApiProperty({ description: 'Whether agents may call the tool now.', example: false })
  enabled: boolean;
}

/** A workflow node whose agent refers to the system of the tool. */
export class AffectedNodeDto {
  @ApiProperty({ description: 'Application of the workflow.', example: 'sample' })
  appId: string;

  @ApiProperty({ description: 'Its version.', example: 'v1' })
  appVersionId: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The build; null for the node as it stands in the version.',
    example: null,
  })
  buildId: string | null;

  @ApiProperty({ description: 'Name of the workflow.', example: 'check_stock' })
  workflow: string;

  @ApiProperty({ description: 'Id of the node.', example: 'agent' })
  nodeId: string;

  @ApiProperty({ description: 'Name of the node.', example: 'Ask the stock' })
  nodeName: string;
}

/** The switch of a tool (docs/contract.md, section 2.5). */
export class SwitchToolResponseDto {
  @ApiProperty({ type: 'integer', description: 'The HTTP status again.', example: 200 })
  status: number;

  @ApiProperty({
    description: '`Tool enabled.`, `Tool disabled.`, or that it already was.',
    example: 'Tool disabled.',
  })
  message: string;

  @ApiProperty({ type: () => SwitchedToolDto, description: 'The tool as it is now.' })
  tool: SwitchedToolDto;

  @ApiProperty({
    type: () => [AffectedNodeDto],
    description:
      'Extension: nodes whose agents refer to the system, so lose or get back the tool: those of the version and of its newest builds, ' +
      'of builds that use them as a library too; 100 at most.',
  })
  affectedNodes: AffectedNodeDto[];
}

export function toSwitchToolResponse({
  id,
  name,
  enabled,
  wasEnabled,
  affectedNodes,
}: SwitchedTool): SwitchToolResponseDto {
  const state = enabled ? 'enabled' : 'disabled';
  const message = enabled === wasEnabled ? `Tool is already ${state}.` : `Tool ${state}.`;
  const nodes = affectedNodes.map(toAffectedNode);
  return { status: 200, message, tool: { id, name, enabled }, affectedNodes: nodes };
}

function toAffectedNode({
  appId,
  appVersionId,
  buildId,
  workflow,
  nodeId,
  nodeName,
}: ToolUse): AffectedNodeDto {
  return { appId, appVersionId, buildId, workflow, nodeId, nodeName };
}
