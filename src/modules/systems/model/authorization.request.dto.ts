import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsDefined, IsEnum, IsObject, ValidateIf, ValidateNested } from 'class-validator';
import { IsCredential, IsHttpUrl } from '../../../common/validation/patterns.decorators.js';
import { AuthorizationType, type Connection } from './system.types.js';

/** OAuth 2.0 client credentials (docs/contract.md, section 2.1). */
export class ServiceAccountRequestDto {
  @IsCredential(255, { description: 'OAuth 2.0 client id.', example: 'inventory-agent' })
  clientId: string;

  @IsCredential(1_024, {
    description: 'OAuth 2.0 client secret. Stored encrypted, never returned.',
    format: 'password',
    writeOnly: true,
    example: 'the-secret-of-the-client',
  })
  clientSecret: string;

  @IsHttpUrl({ description: 'OAuth 2.0 token endpoint.', example: 'https://sso.example.com/oauth2/token' })
  identityProviderUrl: string;
}

/** How the MCP server is reached. */
export class AuthorizationRequestDto {
  @ApiProperty({
    enum: AuthorizationType,
    enumName: 'AuthorizationType',
    description:
      'SERVICE_ACCOUNT fetches an access token by OAuth 2.0 client credentials (RFC 6749, section 4.4).',
    example: AuthorizationType.NoAuth,
  })
  @IsEnum(AuthorizationType, { message: 'must be NO_AUTH or SERVICE_ACCOUNT' })
  type: AuthorizationType;

  @ApiPropertyOptional({
    type: () => ServiceAccountRequestDto,
    description: 'Required unless type is NO_AUTH, which ignores and does not store it.',
  })
  @ValidateIf((authorization: AuthorizationRequestDto) => authorization.type !== AuthorizationType.NoAuth)
  @ValidateNested()
  @IsObject({ message: 'must be an object' })
  @IsDefined({ message: 'is required unless type is NO_AUTH' })
  @Type(() => ServiceAccountRequestDto)
  configuration?: ServiceAccountRequestDto;
}

/** The connection that a checked request describes. NO_AUTH drops whatever configuration was sent. */
export function connectionOf(baseUrl: string, { type, configuration }: AuthorizationRequestDto): Connection {
  if (type === AuthorizationType.NoAuth || configuration === undefined) {
    return {
      baseUrl,
      authorizationType: type,
      clientId: null,
      clientSecret: null,
      identityProviderUrl: null,
    };
  }
  const { clientId, clientSecret, identityProviderUrl } = configuration;
  return { baseUrl, authorizationType: type, clientId, clientSecret, identityProviderUrl };
}
