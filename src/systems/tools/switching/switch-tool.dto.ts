import { Answer, Shows, Fields, FieldsWith } from '../../../platform/openapi/answer-fields.decorators.js';
import { IsFlag, IsPathId } from '../../../platform/validation/patterns.decorators.js';
import { keyOf, SystemParams } from '../../model/path.params.dto.js';
import type { SwitchedTool, ToolKey } from '../model/tool.types.js';

export class ToolParams extends FieldsWith(SystemParams, {
  systemId: IsPathId(
    'Id of the system; it must be the one that `systemResourceId` names.',
    '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b0f',
  ),
  toolId: IsPathId('Id of the tool.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20'),
}) {}

export function toolKeyOf({ systemId, toolId, ...system }: ToolParams): ToolKey {
  return { ...keyOf(system), systemId, toolId };
}

/** The switch of a tool (docs/contract.md, section 2.5). */
export class SwitchToolRequestDto extends Fields({
  enabled: IsFlag('true lets agents call the tool, false stops them.', false),
}) {}

export class SwitchedToolDto extends Answer({
  id: Shows.uuid('Tool id.'),
  name: Shows.value('Tool name.', 'get-sum'),
  enabled: Shows.flag('Whether agents may call the tool now.', false),
}) {}

/** A workflow node whose agent refers to the system of the tool. */
export class AffectedNodeDto extends Answer({
  appId: Shows.value('Application of the workflow.', 'sample'),
  appVersionId: Shows.value('Its version.', 'v1'),
  buildId: Shows.textOrNull('The build; null for the node as it stands in the version.', null),
  workflow: Shows.value('Name of the workflow.', 'check_stock'),
  nodeId: Shows.value('Id of the node.', 'agent'),
  nodeName: Shows.value('Name of the node.', 'Ask the stock'),
}) {}

/** The switch of a tool (docs/contract.md, section 2.5). */
export class SwitchToolResponseDto extends Answer({
  status: Shows.number('The HTTP status again.', 200),
  message: Shows.value('`Tool enabled.`, `Tool disabled.`, or that it already was.', 'Tool disabled.'),
  tool: Shows.part(() => SwitchedToolDto, 'The tool as it is now.'),
  affectedNodes: Shows.list(
    () => AffectedNodeDto,
    'Extension: nodes whose agents refer to the system, so lose or get back the tool: those of the version and of its newest builds, ' +
      'of builds that use them as a library too; 100 at most.',
  ),
}) {}

export function toSwitchToolResponse(switched: SwitchedTool): SwitchToolResponseDto {
  const { id, name, enabled, wasEnabled, affectedNodes } = switched;
  const state = enabled ? 'enabled' : 'disabled';
  const message = enabled === wasEnabled ? `Tool is already ${state}.` : `Tool ${state}.`;
  return { status: 200, message, tool: { id, name, enabled }, affectedNodes };
}
