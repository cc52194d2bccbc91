import { Answer, Shows, Fields, FieldsWith } from '../../../platform/openapi/answer-fields.decorators.js';
import { IsFlag, IsPathId } from '../../../platform/validation/patterns.decorators.js';
import { keyOf, SystemParams } from '../../model/path.params.dto.js';
import type { SwitchedTool, ToolKey } from '../model/tool.types.js';

export class ToolParams extends FieldsWith(SystemParams, {
  systemId: IsPathId(
    'Id of the system; must belong to the system of `systemResourceId`.',
    '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b0f',
  ),
  toolId: IsPathId('Id of the tool.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20'),
}) {}

export function toolKeyOf({ systemId, toolId, ...system }: ToolParams): ToolKey {
  return { ...keyOf(system), systemId, toolId };
}

/** Request to enable or disable a tool (docs/contract.md, section 2.5). */
export class SwitchToolRequestDto extends Fields({
  enabled: IsFlag('Whether agents may call the tool.', false),
}) {}

export class SwitchedToolDto extends Answer({
  id: Shows.uuid('Tool id.'),
  name: Shows.value('Tool name.', 'get-sum'),
  enabled: Shows.flag('Whether agents may now call the tool.', false),
}) {}

/** An agent node that refers to the system of the tool. */
export class AffectedNodeDto extends Answer({
  appId: Shows.value('Application of the workflow.', 'sample'),
  appVersionId: Shows.value('Version of the application.', 'v1'),
  buildId: Shows.textOrNull('Id of the build; null for the node in the version itself.', null),
  workflow: Shows.value('Name of the workflow.', 'check_stock'),
  nodeId: Shows.value('Id of the node.', 'agent'),
  nodeName: Shows.value('Name of the node.', 'Check stock'),
}) {}

/** Result of enabling or disabling a tool (docs/contract.md, section 2.5). */
export class SwitchToolResponseDto extends Answer({
  status: Shows.number('HTTP status of the response.', 200),
  message: Shows.value(
    '`Tool enabled.`, `Tool disabled.`, `Tool is already enabled.` or `Tool is already disabled.`',
    'Tool disabled.',
  ),
  tool: Shows.part(() => SwitchedToolDto, 'New state of the tool.'),
  affectedNodes: Shows.list(
    () => AffectedNodeDto,
    'Extension: agent nodes that refer to the system and so lose or regain the tool, in the version, its newest builds, and builds ' +
      'that use them as a library; at most 100.',
  ),
}) {}

export function toSwitchToolResponse(switched: SwitchedTool): SwitchToolResponseDto {
  const { id, name, enabled, wasEnabled, affectedNodes } = switched;
  const state = enabled ? 'enabled' : 'disabled';
  const message = enabled === wasEnabled ? `Tool is already ${state}.` : `Tool ${state}.`;
  return { status: 200, message, tool: { id, name, enabled }, affectedNodes };
}
