import { ApiProperty, ApiPropertyOptional, OmitType } from '@nestjs/swagger';
import { PersonDto, UserReferenceDto } from '../../../common/user/user-reference.dto.js';
import type { UserReference } from '../../../common/user/user-reference.js';
import { AuthorizationType, SystemType, type SystemDetails } from '../model/system.types.js';
import { ToolResponseDto, toToolResponse } from './tool.response.dto.js';

/** Client credentials as they are shown: without the secret. */
export class ServiceAccountResponseDto {
  @ApiProperty({ description: 'OAuth 2.0 client id.', example: 'inventory-agent' })
  clientId: string;

  @ApiProperty({
    format: 'uri',
    description: 'OAuth 2.0 token endpoint.',
    example: 'https://sso.example.com/oauth2/token',
  })
  identityProviderUrl: string;
}

class AuthorizationTypeDto {
  @ApiProperty({
    enum: AuthorizationType,
    enumName: 'AuthorizationType',
    description: 'How the MCP server is reached.',
    example: AuthorizationType.NoAuth,
  })
  type: AuthorizationType;
}

/** Authorization in the answer of the create operation. */
export class CreatedAuthorizationDto extends AuthorizationTypeDto {
  @ApiPropertyOptional({ type: () => ServiceAccountResponseDto, description: 'Absent for NO_AUTH.' })
  configuration?: ServiceAccountResponseDto;
}

/** Authorization in the answer of get-by-id, which names the same content `config`. */
export class StoredAuthorizationDto extends AuthorizationTypeDto {
  @ApiPropertyOptional({ type: () => ServiceAccountResponseDto, description: 'Absent for NO_AUTH.' })
  config?: ServiceAccountResponseDto;
}

/** An MCP system as get-by-id shows it (docs/contract.md, section 2.3). */
export class SystemResponseDto {
  @ApiProperty({ format: 'uuid', description: 'Id of the system.' })
  id: string;

  @ApiProperty({ type: String, nullable: true, description: 'Reserved.', example: null })
  svcUuid: string | null;

  @ApiProperty({ format: 'uuid', description: 'Names the system in paths.' })
  resourceId: string;

  @ApiProperty({
    format: 'uuid',
    description: 'The same in every version of the application; workflow nodes use it.',
  })
  resourceDefinitionId: string;

  @ApiProperty({
    enum: SystemType,
    enumName: 'SystemType',
    description: 'Always MCP here.',
    example: SystemType.Mcp,
  })
  type: SystemType;

  @ApiProperty({ description: 'Display name.', example: 'Inventory tools' })
  name: string;

  @ApiProperty({
    format: 'uri',
    description: 'Base URL of the MCP server.',
    example: 'https://mcp.example.com/mcp',
  })
  baseUrl: string;

  @ApiProperty({ type: () => StoredAuthorizationDto, description: 'Credentials without the secret.' })
  authorization: StoredAuthorizationDto;

  @ApiProperty({
    description: 'Purpose; empty when nobody has told it.',
    example: 'Stock levels and orders of the warehouse',
  })
  description: string;

  @ApiProperty({ type: () => [ToolResponseDto], description: 'Filled by a successful connection test.' })
  tools: ToolResponseDto[];

  @ApiProperty({
    format: 'date-time',
    description: 'When it was created.',
    example: '2026-01-31T10:20:30.123Z',
  })
  createdDate: string;

  @ApiProperty({
    format: 'date-time',
    description: 'When the system or one of its tools last changed.',
    example: '2026-01-31T10:20:30.123Z',
  })
  modifiedDate: string;

  @ApiProperty({ type: () => UserReferenceDto, description: 'Who created it.' })
  createdBy: UserReferenceDto;

  @ApiProperty({ type: () => UserReferenceDto, description: 'Who made the last change.' })
  modifiedBy: UserReferenceDto;
}

/** An MCP system as the create operation answers it (docs/contract.md, section 2.1). */
export class CreatedSystemResponseDto extends OmitType(SystemResponseDto, [
  'authorization',
  'createdBy',
  'modifiedBy',
] as const) {
  @ApiProperty({ type: () => CreatedAuthorizationDto, description: 'Credentials without the secret.' })
  authorization: CreatedAuthorizationDto;

  @ApiProperty({ type: () => PersonDto, description: 'Who created it.' })
  createdBy: PersonDto;

  @ApiProperty({ type: () => PersonDto, description: 'The same as createdBy.' })
  modifiedBy: PersonDto;
}

type NewSystem = Omit<SystemDetails, 'tools'>;

export function toCreatedSystemResponse(system: NewSystem): CreatedSystemResponseDto {
  const configuration = serviceAccountOf(system);
  return {
    ...commonFields(system),
    authorization: { type: authorizationTypeOf(system), ...(configuration && { configuration }) },
    tools: [],
    createdBy: personOf(system.createdBy),
    modifiedBy: personOf(system.modifiedBy),
  };
}

export function toSystemResponse(system: SystemDetails): SystemResponseDto {
  const config = serviceAccountOf(system);
  return {
    ...commonFields(system),
    authorization: { type: authorizationTypeOf(system), ...(config && { config }) },
    tools: system.tools.map(toToolResponse),
    createdBy: system.createdBy,
    modifiedBy: system.modifiedBy,
  };
}

function commonFields(
  system: NewSystem,
): Omit<SystemResponseDto, 'authorization' | 'tools' | 'createdBy' | 'modifiedBy'> {
  return {
    id: system.id,
    svcUuid: null,
    resourceId: system.resourceId,
    resourceDefinitionId: system.resourceDefinitionId,
    type: system.type,
    name: system.name,
    baseUrl: system.baseUrl ?? '',
    description: system.description,
    createdDate: system.createdAt.toISOString(),
    modifiedDate: system.modifiedAt.toISOString(),
  };
}

function authorizationTypeOf(system: NewSystem): AuthorizationType {
  return system.authorizationType ?? AuthorizationType.NoAuth;
}

function serviceAccountOf({
  clientId,
  identityProviderUrl,
}: NewSystem): ServiceAccountResponseDto | undefined {
  return clientId === null || identityProviderUrl === null ? undefined : { clientId, identityProviderUrl };
}

function personOf({ firstName, lastName, userName }: UserReference): PersonDto {
  return { firstName, lastName, userName };
}
