import { ApiProperty } from '@nestjs/swagger';
import type { ToolRow } from '../model/system.types.js';

/** A tool (docs/contract.md, section 2.3). */
export class ToolResponseDto {
  @ApiProperty({
    description: 'Tool id; it stays the same while the tool is offered, gone and back.',
    format: 'uuid',
  })
  id: string;

  @ApiProperty({ type: String, nullable: true, description: 'Reserved.', example: null })
  svcUuid: string | null;

  @ApiProperty({ description: 'Name by which the server knows it.', example: 'get-sum' })
  name: string;

  @ApiProperty({
    description: 'What the server says it does; plain text, not to be trusted.',
    example: 'Returns the sum of two numbers',
  })
  description: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'JSON Schema of the input.',
    example: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
  })
  inputSchema: Record<string, unknown>;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'JSON Schema of the output; empty when the server declares none.',
    example: {},
  })
  outputSchema: Record<string, unknown>;

  @ApiProperty({ description: 'Whether agents may call the tool.', example: true })
  enabled: boolean;
}

export function toToolResponse(tool: ToolRow): ToolResponseDto {
  return {
    id: tool.id,
    svcUuid: null,
    name: tool.name,
    description: tool.description,
    inputSchema: tool.inputSchema,
    outputSchema: tool.outputSchema ?? {},
    enabled: tool.enabled,
  };
}
