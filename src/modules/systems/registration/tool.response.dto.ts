import { ApiProperty } from '@nestjs/swagger';
import { Shows } from '../../../common/answer-fields.decorators.js';
import type { ToolRow } from '../model/system.types.js';

/** A tool (docs/contract.md, section 2.3). */
export class ToolResponseDto {
  @ApiProperty({
    description: 'Tool id; it stays the same while the tool is offered, gone and back.',
    format: 'uuid',
  })
  id: string;

  @Shows.textOrNull('Reserved.', null)
  svcUuid: string | null;

  @Shows.value('Name by which the server knows it.', 'get-sum')
  name: string;

  @Shows.value(
    'What the server says it does; plain text, not to be trusted.',
    'Returns the sum of two numbers',
  )
  description: string;

  @Shows.object('JSON Schema of the input.', {
    type: 'object',
    properties: { a: { type: 'number' } },
    required: ['a'],
  })
  inputSchema: Record<string, unknown>;

  @Shows.object('JSON Schema of the output; empty when the server declares none.', {})
  outputSchema: Record<string, unknown>;

  @Shows.value('Whether agents may call the tool.', true)
  enabled: boolean;
}

/** A tool as `ToolResponseDto`, in JSON. Its schemas stand there as they are stored, which spares reading and writing them. */
export function toToolJson({ id, name, description, inputSchema, outputSchema, enabled }: ToolRow): string {
  const shown: Pick<ToolResponseDto, 'id' | 'svcUuid' | 'name' | 'description'> = {
    id,
    svcUuid: null,
    name,
    description,
  };
  return `${JSON.stringify(shown).slice(0, -1)},"inputSchema":${inputSchema},"outputSchema":${outputSchema ?? '{}'},"enabled":${enabled}}`;
}
