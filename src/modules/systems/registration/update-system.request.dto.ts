import { ApiExtraModels, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsEnum, IsObject, IsOptional, ValidateIf, ValidateNested } from 'class-validator';
import {
  IfSent,
  IsCredential,
  IsDisplayName,
  IsHttpUrl,
  IsText,
} from '../../../common/validation/patterns.decorators.js';
import { IsOneKindOf, Kind, NoAuthorizationDto } from '../model/authorization-kinds.dto.js';
import { isApiKey, TYPE_RULE } from '../model/authorization.request.dto.js';
import {
  IsApiKey,
  IsApiKeyHeader,
  IsKeyId,
  IsNotBeside,
  IsPrivateKey,
  IsScheme,
  IsScope,
  IsTokenParameters,
} from '../model/credential.decorators.js';
import { IsHeaders, IsTimeout } from '../model/static-headers.decorator.js';
import { AuthorizationType } from '../model/system.types.js';
import { UpdateTlsDto } from '../model/tls.request.dto.js';
import { DESCRIPTION_MAX_LENGTH, NAME_MAX_LENGTH } from './create-system.request.dto.js';

const CHANGES = 'What to change; all that the type needs must be known afterwards.';

/** Client credentials to change; a member that is left out keeps its value. */
export class UpdateServiceAccountDto {
  @IsCredential(255, { required: false, description: 'OAuth 2.0 client id.', example: 'inventory-agent' })
  @IfSent()
  clientId?: string;

  @IsCredential(1_024, {
    required: false,
    description:
      'A new secret; left out, the stored one is kept. Required when baseUrl or identityProviderUrl change.',
    format: 'password',
    writeOnly: true,
    example: 'the-new-secret',
  })
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

/** Client credentials to change, as the document shows them. */
export class UpdateServiceAccountAuthorizationDto {
  @Kind(AuthorizationType.ServiceAccount, 'OAuth 2.0 client credentials.')
  type: AuthorizationType.ServiceAccount;

  @ApiPropertyOptional({ type: () => UpdateServiceAccountDto, description: CHANGES })
  configuration?: UpdateServiceAccountDto;
}

/** An API key to change, as the document shows it. */
export class UpdateApiKeyAuthorizationDto {
  @Kind(AuthorizationType.ApiKey, 'A key in a header.')
  type: AuthorizationType.ApiKey;

  @ApiPropertyOptional({ type: () => UpdateApiKeyDto, description: CHANGES })
  configuration?: UpdateApiKeyDto;
}

const KINDS = {
  [AuthorizationType.NoAuth]: NoAuthorizationDto,
  [AuthorizationType.ServiceAccount]: UpdateServiceAccountAuthorizationDto,
  [AuthorizationType.ApiKey]: UpdateApiKeyAuthorizationDto,
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

  @ApiPropertyOptional({
    type: () => UpdateTlsDto,
    nullable: true,
    description: 'Certificates to change (extension). null removes all of them, and the key.',
  })
  @ValidateIf((_object, value) => value !== undefined && value !== null)
  @ValidateNested()
  @IsObject({ message: 'must be an object' })
  @Type(() => UpdateTlsDto)
  tls?: UpdateTlsDto | null;

  @IsHeaders(
    'Replaces all of them; null removes them. Required when baseUrl, identityProviderUrl or tls.caCertificates change.',
  )
  headers?: Record<string, string> | null;

  @IsTimeout()
  timeoutMs?: number | null;
}
