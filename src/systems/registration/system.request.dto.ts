import { ApiExtraModels, ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Equals, IsOptional, IsEnum, IsObject, ValidateIf, ValidateNested } from 'class-validator';
import {
  IsDisplayName,
  IsHttpUrl,
  IsPart,
  IsText,
  IfSent,
  IsCredential,
} from '../../platform/validation/patterns.decorators.js';
import {
  IsClientSecret,
  IsResourceName,
  IsHeaders,
  IsTimeout,
  IsApiKey,
  IsApiKeyHeader,
  IsKeyId,
  IsNotBeside,
  IsOptionalPart,
  IsPrivateKey,
  IsScheme,
  IsScope,
  IsTokenParameters,
} from '../model/system-field.decorator.js';
import { SystemType, AuthorizationType } from '../model/system.types.js';
import {
  AuthorizationRequestDto,
  isApiKey,
  TYPE_RULE,
  AUTHORIZATION_MODELS,
  IsAuthorization,
  IsOneKindOf,
  kindOf,
  NoAuthorizationDto,
} from '../model/authorization.request.dto.js';
import { IsTlsPart, TlsRequestDto, UpdateTlsDto } from '../model/tls.request.dto.js';
import { Type } from 'class-transformer';
import { ValidationFailedError } from '../../platform/errors/request.errors.js';
import { Answer, Shows } from '../../platform/openapi/answer-fields.decorators.js';

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

const CHANGES = 'What to change; all that the type needs must be known afterwards.';

/** Client credentials to change; a member that is left out keeps its value. */
export class UpdateServiceAccountDto {
  @IsCredential(255, { required: false, description: 'OAuth 2.0 client id.', example: 'inventory-agent' })
  @IfSent()
  clientId?: string;

  @IsClientSecret(
    'A new secret; left out, the stored one is kept. Required when baseUrl or identityProviderUrl change.',
    'the-new-secret',
    false,
  )
  @IfSent()
  clientSecret?: string;

  @IsPrivateKey()
  @IsNotBeside('clientSecret')
  privateKey?: string;

  @IsKeyId()
  @IsNotBeside('clientSecret')
  keyId?: string;

  @IsHttpUrl({
    required: false,
    description: 'OAuth 2.0 token endpoint.',
    example: 'https://sso.example.com/token',
  })
  @IfSent()
  identityProviderUrl?: string;

  @IsScope()
  scope?: string | null;

  @IsTokenParameters()
  tokenParameters?: Record<string, string> | null;
}

/** An API key to change; a member that is left out keeps its value. */
export class UpdateApiKeyDto {
  @IsApiKeyHeader()
  headerName?: string;

  @IsScheme(
    'Word before the key; null for none. Left out beside a headerName, it is what a new system would have.',
  )
  scheme?: string | null;

  @IsApiKey(false)
  apiKey?: string;
}

const KINDS = {
  [AuthorizationType.NoAuth]: NoAuthorizationDto,
  [AuthorizationType.ServiceAccount]: kindOf(
    'UpdateServiceAccountAuthorizationDto',
    AuthorizationType.ServiceAccount,
    'OAuth 2.0 client credentials.',
    { configuration: ApiPropertyOptional({ type: () => UpdateServiceAccountDto, description: CHANGES }) },
  ),
  [AuthorizationType.ApiKey]: kindOf(
    'UpdateApiKeyAuthorizationDto',
    AuthorizationType.ApiKey,
    'A key in a header.',
    { configuration: ApiPropertyOptional({ type: () => UpdateApiKeyDto, description: CHANGES }) },
  ),
} as const;

/** Authorization to change: as it is checked. The document shows it as one of the kinds. */
export class UpdateAuthorizationDto {
  @IsEnum(AuthorizationType, TYPE_RULE)
  type: AuthorizationType;

  @ValidateIf(
    (authorization: UpdateAuthorizationDto) =>
      authorization.type !== AuthorizationType.NoAuth && authorization.configuration !== undefined,
  )
  @ValidateNested()
  @IsObject({ message: 'must be an object' })
  @Type((options) => (isApiKey(options) ? UpdateApiKeyDto : UpdateServiceAccountDto))
  configuration?: UpdateServiceAccountDto | UpdateApiKeyDto;
}

/** What to change about an MCP system; a member that is left out keeps its value. */
@ApiExtraModels(...Object.values(KINDS))
export class UpdateSystemRequestDto {
  @IsDisplayName(NAME_MAX_LENGTH, {
    required: false,
    description: 'Display name.',
    example: 'Inventory tools',
  })
  @IfSent()
  name?: string;

  @IsText(0, DESCRIPTION_MAX_LENGTH, {
    required: false,
    nullable: true,
    description: 'Purpose; null or an empty text removes it.',
    example: 'Stock levels',
  })
  @IsOptional()
  description?: string | null;

  @IsHttpUrl({
    required: false,
    description: 'Base URL of the MCP server.',
    example: 'https://mcp.example.com/mcp',
  })
  @IfSent()
  baseUrl?: string;

  @IsOneKindOf(KINDS, {
    required: false,
    description: 'How the MCP server is reached. NO_AUTH deletes the stored credentials.',
  })
  @IfSent()
  @ValidateNested()
  @IsObject({ message: 'must be an object' })
  @Type(() => UpdateAuthorizationDto)
  authorization?: UpdateAuthorizationDto;

  @IsOptionalPart(() => UpdateTlsDto, {
    nullable: true,
    description: 'Certificates to change (extension). null removes all of them, and the key.',
  })
  tls?: UpdateTlsDto | null;

  @IsHeaders(
    'Replaces all of them; null removes them. Required when baseUrl, identityProviderUrl or tls.caCertificates change.',
  )
  headers?: Record<string, string> | null;

  @IsTimeout()
  timeoutMs?: number | null;
}

/** A secret to use from now on: exactly one of clientSecret, privateKey, apiKey and headers. */
export class ReplaceSecretRequestDto {
  @IsClientSecret('OAuth 2.0 client secret of a SERVICE_ACCOUNT; never returned.', 'the-new-secret', false)
  @IfSent()
  clientSecret?: string;

  @IsPrivateKey()
  @IsNotBeside('clientSecret')
  privateKey?: string;

  @IsKeyId()
  @IsNotBeside('clientSecret', 'apiKey')
  keyId?: string;

  @IsApiKey(false)
  @IsNotBeside('clientSecret', 'privateKey')
  apiKey?: string;

  @IsHeaders('New values for the headers that the system has: all of them, and no other.')
  @IsNotBeside('clientSecret', 'privateKey', 'apiKey')
  headers?: Record<string, string> | null;
}

export class ReplacedSecretResponseDto extends Answer({
  status: Shows.number('The HTTP status again.', 200),
  message: Shows.value(
    'What happened: `Client secret replaced.`, `Private key replaced.`, `API key replaced.` or `Headers replaced.`',
    'Client secret replaced.',
  ),
  resourceId: Shows.uuid('Resource id of the system.'),
}) {}

/** What was replaced, as callers know it. */
export type ReplacedSecret = 'clientSecret' | 'privateKey' | 'apiKey' | 'headers';

/** What a request replaces. @throws ValidationFailedError when it names no secret */
export function replacedSecret(request: ReplaceSecretRequestDto): ReplacedSecret {
  const names = ['headers', 'apiKey', 'privateKey', 'clientSecret'] as const;
  const replaced = names.find((name) => request[name] !== undefined && request[name] !== null);
  if (replaced === undefined) {
    // In the words of the field itself: until there were others, it was the only one.
    throw new ValidationFailedError([{ field: 'clientSecret', rule: 'must be a string' }]);
  }
  return replaced;
}
