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
  IsExclusiveOf,
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

/** Maximum length of display name and description in characters. */
export const NAME_MAX_LENGTH = 255;
export const DESCRIPTION_MAX_LENGTH = 2_000;

/** Configuration of a new MCP system. */
@ApiExtraModels(...AUTHORIZATION_MODELS)
export class CreateSystemPayloadDto {
  @IsDisplayName(NAME_MAX_LENGTH, { description: 'Display name.', example: 'Inventory tools' })
  name: string;

  @ApiProperty({
    enum: [SystemType.Mcp],
    description: 'Must be MCP.',
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

  @IsHeaders('Null or absent for none.')
  headers?: Record<string, string> | null;

  @IsTimeout()
  timeoutMs?: number | null;

  @IsText(0, DESCRIPTION_MAX_LENGTH, {
    required: false,
    nullable: true,
    description:
      'Purpose. If empty, the first successful connection test fills it with the description of the server.',
    example: 'Stock levels and orders of the warehouse',
  })
  @IsOptional()
  description?: string | null;
}

/** Body of the create operation (docs/contract.md, section 2.1). */
export class CreateSystemRequestDto {
  @ApiProperty({ enum: ['CREATE'], description: 'Always CREATE.', example: 'CREATE' })
  @Equals('CREATE', { message: 'must be CREATE' })
  action: 'CREATE';

  @IsResourceName({
    description: 'Name of the resource; unique within the application version, ignoring case.',
    example: 'inventory_tools',
  })
  resourceName: string;

  @IsPart(() => CreateSystemPayloadDto, 'Configuration of the system.')
  payload: CreateSystemPayloadDto;
}

const CHANGES = 'Members to change. Afterwards all members that the type requires must be set.';

/** Changes of client credentials. Absent members keep their values. */
export class UpdateServiceAccountDto {
  @IsCredential(255, { required: false, description: 'OAuth 2.0 client id.', example: 'inventory-agent' })
  @IfSent()
  clientId?: string;

  @IsClientSecret(
    'New secret; absent keeps the stored one. Required when baseUrl or identityProviderUrl change.',
    'the-new-secret',
    false,
  )
  @IfSent()
  clientSecret?: string;

  @IsPrivateKey()
  @IsExclusiveOf('clientSecret')
  privateKey?: string;

  @IsKeyId()
  @IsExclusiveOf('clientSecret')
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

/** Changes of an API key. Absent members keep their values. */
export class UpdateApiKeyDto {
  @IsApiKeyHeader()
  headerName?: string;

  @IsScheme(
    'Authentication scheme before the key; null for none. If absent with a headerName, the default of a new system applies.',
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

/** Changes of an authorization, as validated. The OpenAPI document shows it as one of the kinds. */
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

/** Changes of an MCP system. Absent members keep their values. */
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
    description: 'How the service authenticates to the MCP server. NO_AUTH deletes the stored credentials.',
  })
  @IfSent()
  @ValidateNested()
  @IsObject({ message: 'must be an object' })
  @Type(() => UpdateAuthorizationDto)
  authorization?: UpdateAuthorizationDto;

  @IsOptionalPart(() => UpdateTlsDto, {
    nullable: true,
    description: 'Certificates to change (extension). Null removes all certificates and the key.',
  })
  tls?: UpdateTlsDto | null;

  @IsHeaders(
    'Replaces all headers; null removes them. Required when baseUrl, identityProviderUrl or tls.caCertificates change.',
  )
  headers?: Record<string, string> | null;

  @IsTimeout()
  timeoutMs?: number | null;
}

/** New secret: exactly one of clientSecret, privateKey, apiKey and headers. */
export class ReplaceSecretRequestDto {
  @IsClientSecret('OAuth 2.0 client secret of a SERVICE_ACCOUNT; never returned.', 'the-new-secret', false)
  @IfSent()
  clientSecret?: string;

  @IsPrivateKey()
  @IsExclusiveOf('clientSecret')
  privateKey?: string;

  @IsKeyId()
  @IsExclusiveOf('clientSecret', 'apiKey')
  keyId?: string;

  @IsApiKey(false)
  @IsExclusiveOf('clientSecret', 'privateKey')
  apiKey?: string;

  @IsHeaders('New values for exactly the headers of the system.')
  @IsExclusiveOf('clientSecret', 'privateKey', 'apiKey')
  headers?: Record<string, string> | null;
}

export class ReplacedSecretResponseDto extends Answer({
  status: Shows.number('HTTP status of the response.', 200),
  message: Shows.value(
    'Outcome: `Client secret replaced.`, `Private key replaced.`, `API key replaced.` or `Headers replaced.`',
    'Client secret replaced.',
  ),
  resourceId: Shows.uuid('Resource id of the system.'),
}) {}

/** Name of a replaced secret in the API. */
export type ReplacedSecret = 'clientSecret' | 'privateKey' | 'apiKey' | 'headers';

/** Returns the secret that a request replaces. @throws ValidationFailedError when it contains none */
export function replacedSecret(request: ReplaceSecretRequestDto): ReplacedSecret {
  const names = ['headers', 'apiKey', 'privateKey', 'clientSecret'] as const;
  const replaced = names.find((name) => request[name] !== undefined && request[name] !== null);
  if (replaced === undefined) {
    // An error names one field, so it names the first one of the request.
    throw new ValidationFailedError([{ field: 'clientSecret', rule: 'must be a string' }]);
  }
  return replaced;
}
