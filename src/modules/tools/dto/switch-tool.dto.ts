import { ApiProperty } from '@nestjs/swagger';
import { IsFlag, IsPathId } from '../../../common/validation/patterns.decorators.js';
import { SystemParams } from '../../systems/dto/path.params.dto.js';
import type { SwitchedTool } from '../tool.types.js';

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

/** Interface contract, endpoint 5. */
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

/** Interface contract, endpoint 5. */
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
}

export function toSwitchToolResponse({ id, name, enabled, wasEnabled }: SwitchedTool): SwitchToolResponseDto {
  const state = enabled ? 'enabled' : 'disabled';
  const message = enabled === wasEnabled ? `Tool is already ${state}.` : `Tool ${state}.`;
  return { status: 200, message, tool: { id, name, enabled } };
}
