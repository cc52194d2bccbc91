import { Shows } from '../../../common/answer-fields.decorators.js';
import { IsFlag, IsPathId } from '../../../common/validation/patterns.decorators.js';
import { keyOf, SystemParams } from '../../systems/model/path.params.dto.js';
import type { SwitchedTool, ToolKey } from '../model/tool.types.js';

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

/** The tool that a path names. */
export function toolKeyOf({ systemId, toolId, ...system }: ToolParams): ToolKey {
  return { ...keyOf(system), systemId, toolId };
}

/** The switch of a tool (docs/contract.md, section 2.5). */
export class SwitchToolRequestDto {
  @IsFlag({ description: 'true lets agents call the tool, false stops them.', example: false })
  enabled: boolean;
}

/** The tool in the answer. */
export class SwitchedToolDto {
  @Shows.uuid('Tool id.')
  id: string;

  @Shows.value('Tool name.', 'get-sum')
  name: string;

  @Shows.value('Whether agents may call the tool now.', false)
  enabled: boolean;
}

/** A workflow node whose agent refers to the system of the tool. */
export class AffectedNodeDto {
  @Shows.value('Application of the workflow.', 'sample')
  appId: string;

  @Shows.value('Its version.', 'v1')
  appVersionId: string;

  @Shows.textOrNull('The build; null for the node as it stands in the version.', null)
  buildId: string | null;

  @Shows.value('Name of the workflow.', 'check_stock')
  workflow: string;

  @Shows.value('Id of the node.', 'agent')
  nodeId: string;

  @Shows.value('Name of the node.', 'Ask the stock')
  nodeName: string;
}

/** The switch of a tool (docs/contract.md, section 2.5). */
export class SwitchToolResponseDto {
  @Shows.number('The HTTP status again.', 200)
  status: number;

  @Shows.value('`Tool enabled.`, `Tool disabled.`, or that it already was.', 'Tool disabled.')
  message: string;

  @Shows.part(() => SwitchedToolDto, 'The tool as it is now.')
  tool: SwitchedToolDto;

  @Shows.list(
    () => AffectedNodeDto,
    'Extension: nodes whose agents refer to the system, so lose or get back the tool: those of the version and of its newest builds, ' +
      'of builds that use them as a library too; 100 at most.',
  )
  affectedNodes: AffectedNodeDto[];
}

export function toSwitchToolResponse(switched: SwitchedTool): SwitchToolResponseDto {
  const { id, name, enabled, wasEnabled, affectedNodes } = switched;
  const state = enabled ? 'enabled' : 'disabled';
  const message = enabled === wasEnabled ? `Tool is already ${state}.` : `Tool ${state}.`;
  return { status: 200, message, tool: { id, name, enabled }, affectedNodes };
}
