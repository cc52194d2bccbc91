import { ApiExtraModels, ApiProperty } from '@nestjs/swagger';
import { Equals, IsOptional } from 'class-validator';
import { IsDisplayName, IsHttpUrl, IsPart, IsText } from '../../../common/validation/patterns.decorators.js';
import { IsResourceName } from '../model/is-resource-name.decorator.js';
import { SystemType } from '../model/system.types.js';
import { AuthorizationRequestDto } from '../model/authorization.request.dto.js';
import { AUTHORIZATION_MODELS, IsAuthorization } from '../model/authorization-kinds.dto.js';
import { IsHeaders, IsTimeout } from '../model/static-headers.decorator.js';
import { IsTlsPart, TlsRequestDto } from '../model/tls.request.dto.js';

/** Longest display name and description that are stored, in characters. */
export const NAME_MAX_LENGTH = 255;
export const DESCRIPTION_MAX_LENGTH = 2_000;

/** Configuration of a new MCP system. */
@ApiExtraModels(...AUTHORIZATION_MODELS)
export class CreateSystemPayloadDto {
  @IsDisplayName(NAME_MAX_LENGTH, { description: 'Display name.', example: 'Inventory tools' })
  name: string;

  @ApiProperty({
    enum: [SystemType.Mcp],
    description: 'Only MCP systems are created here.',
    example: SystemType.Mcp,
  })
  @Equals(SystemType.Mcp, { message: 'must be MCP' })
  type: SystemType.Mcp;

  @IsHttpUrl({ description: 'Base URL of the MCP server.', example: 'https://mcp.example.com/mcp' })
  baseUrl: string;

  @IsAuthorization()
  authorization: AuthorizationRequestDto;

  @IsTlsPart()
  tls?: TlsRequestDto;

  @IsHeaders('null or absent for none.')
  headers?: Record<string, string> | null;

  @IsTimeout()
  timeoutMs?: number | null;

  @IsText(0, DESCRIPTION_MAX_LENGTH, {
    required: false,
    nullable: true,
    description:
      'Purpose. When empty, the first successful connection test fills it with what the server says of itself.',
    example: 'Stock levels and orders of the warehouse',
  })
  @IsOptional()
  description?: string | null;
}

/** The body of the create operation (docs/contract.md, section 2.1). */
export class CreateSystemRequestDto {
  @ApiProperty({ enum: ['CREATE'], description: 'Always CREATE.', example: 'CREATE' })
  @Equals('CREATE', { message: 'must be CREATE' })
  action: 'CREATE';

  @IsResourceName({
    description: 'Name of the resource; unique inside the application version without regard to case.',
    example: 'inventory_tools',
  })
  resourceName: string;

  @IsPart(() => CreateSystemPayloadDto, 'Configuration of the system.')
  payload: CreateSystemPayloadDto;
}
