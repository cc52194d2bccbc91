import { Type, type TypeHelpOptions } from 'class-transformer';
import { IsDefined, IsEnum, IsObject, ValidateIf, ValidateNested } from 'class-validator';
import { readSigningKey, type SigningKey } from '../../platform/secrets/signing-key.js';
import { IsCredential, IsHttpUrl } from '../../platform/validation/patterns.decorators.js';
import {
  IsClientSecret,
  IsApiKey,
  IsApiKeyHeader,
  IsKeyId,
  IsExclusiveOf,
  IsPrivateKey,
  IsScheme,
  IsScope,
  IsTokenParameters,
} from './system-field.decorator.js';
import { credentialColumns, headerColumns, type PrivateKeyOptions } from './connection.js';
import { AuthorizationType, type Connection } from './system.types.js';
import { tlsOf, type TlsRequestDto } from './tls.request.dto.js';
import { applyDecorators, type Type as Class } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions, getSchemaPath, OmitType, PickType } from '@nestjs/swagger';
import { Answer, Shows } from '../../platform/openapi/answer-fields.decorators.js';

/** Validation options for an unknown type. */
export const TYPE_RULE = { message: 'must be NO_AUTH, SERVICE_ACCOUNT or API_KEY' };

/** OAuth 2.0 client credentials (docs/contract.md, section 2.1). */
export class ServiceAccountRequestDto {
  @IsCredential(255, { description: 'OAuth 2.0 client id.', example: 'inventory-agent' })
  clientId: string;

  @IsClientSecret(
    'OAuth 2.0 client secret; required unless there is a privateKey. Stored encrypted, never returned.',
    'the-secret-of-the-client',
    false,
  )
  @ValidateIf(
    ({ clientSecret, privateKey }: ServiceAccountRequestDto) =>
      clientSecret !== undefined || privateKey === undefined,
  )
  clientSecret?: string;

  @IsPrivateKey()
  @IsExclusiveOf('clientSecret')
  privateKey?: string;

  @IsKeyId()
  @IsExclusiveOf('clientSecret')
  keyId?: string;

  @IsHttpUrl({ description: 'OAuth 2.0 token endpoint.', example: 'https://sso.example.com/oauth2/token' })
  identityProviderUrl: string;

  @IsScope()
  scope?: string | null;

  @IsTokenParameters()
  tokenParameters?: Record<string, string> | null;
}

/** An API key or a static bearer token. An extension of the contract (docs/contract.md, section 2.1). */
export class ApiKeyRequestDto {
  @IsApiKeyHeader()
  headerName?: string;

  @IsScheme(
    'Authentication scheme before the key (RFC 9110, section 11.1). Default: `Bearer` for `Authorization`, none for other headers; null for none.',
  )
  scheme?: string | null;

  @IsApiKey(true)
  apiKey: string;
}

/** Authorization as validated. The OpenAPI document shows it as one of {@link AUTHORIZATION_MODELS}. */
export class AuthorizationRequestDto {
  @IsEnum(AuthorizationType, TYPE_RULE)
  type: AuthorizationType;

  @ValidateIf((authorization: AuthorizationRequestDto) => authorization.type !== AuthorizationType.NoAuth)
  @ValidateNested()
  @IsObject({ message: 'must be an object' })
  @IsDefined({ message: 'is required unless type is NO_AUTH' })
  @Type((options) => (isApiKey(options) ? ApiKeyRequestDto : ServiceAccountRequestDto))
  configuration?: ServiceAccountRequestDto | ApiKeyRequestDto;
}

/** Returns whether the object that contains a configuration has the type API_KEY. */
export function isApiKey(options: TypeHelpOptions | undefined): boolean {
  return (options?.object as { type?: unknown } | undefined)?.type === AuthorizationType.ApiKey;
}

/** Converts a validated request to a connection. Drops any configuration sent with NO_AUTH. */
export function connectionOf({
  baseUrl,
  authorization: { type, configuration },
  tls,
  headers,
}: {
  baseUrl: string;
  authorization: AuthorizationRequestDto;
  tls?: TlsRequestDto;
  headers?: Record<string, string> | null;
}): Connection {
  const { secret = null, key } = sentProof(type === AuthorizationType.NoAuth ? {} : configuration);
  return {
    baseUrl,
    authorizationType: type,
    ...tlsOf(tls),
    ...headerColumns(headers),
    ...credentialColumns(type, configuration, key),
    clientSecret: secret,
  };
}

/** Secrets of a configuration, of which at most one is present. */
export interface SentSecret {
  clientSecret?: string;
  privateKey?: string;
  keyId?: string;
  apiKey?: string;
}

/** Returns the secret in a request, if any, its name in the API, and the signing options of a private key. */
export function sentProof({ clientSecret, privateKey, keyId, apiKey }: SentSecret = {}): {
  name: 'clientSecret' | 'privateKey' | 'apiKey';
  secret?: string;
  key: PrivateKeyOptions | null;
} {
  if (privateKey !== undefined) {
    return { name: 'privateKey', ...signingCredential(privateKey, keyId) };
  }
  return apiKey === undefined
    ? { name: 'clientSecret', ...(clientSecret !== undefined && { secret: clientSecret }), key: null }
    : { name: 'apiKey', secret: apiKey, key: null };
}

/** Converts a validated private key to the secret and the signing options that are stored. */
function signingCredential(
  privateKey: string,
  keyId: string | undefined,
): { secret: string; key: PrivateKeyOptions } {
  // Never undefined, because validation has read the key before.
  const key = readSigningKey(privateKey) as SigningKey;
  return { secret: key.privateKey, key: { algorithm: key.algorithm, keyId: keyId ?? key.keyId } };
}

/** Client credentials with a secret, for the OpenAPI document. */
export class ClientSecretAccountDto extends OmitType(ServiceAccountRequestDto, [
  'clientSecret',
  'privateKey',
  'keyId',
] as const) {
  @IsClientSecret('OAuth 2.0 client secret. Stored encrypted, never returned.', 'the-secret-of-the-client')
  clientSecret: string;
}

/** Client credentials with a private key, for the OpenAPI document. An extension of the contract. */
export class PrivateKeyAccountDto extends PickType(ServiceAccountRequestDto, [
  'clientId',
  'identityProviderUrl',
  'scope',
  'tokenParameters',
] as const) {
  @IsPrivateKey({ required: true })
  privateKey: string;

  @IsKeyId()
  keyId?: string;
}

/** Documents a member as one of several kinds, discriminated by `type`. */
export const IsOneKindOf = (
  kinds: Readonly<Record<AuthorizationType, Class>>,
  options: ApiPropertyOptions,
): PropertyDecorator => {
  const references = Object.entries(kinds).map(([type, kind]) => [type, getSchemaPath(kind)]);
  return ApiProperty({
    ...options,
    type: Object,
    oneOf: references.map(([, $ref]) => ({ $ref })),
    discriminator: { propertyName: 'type', mapping: Object.fromEntries(references) },
  } as ApiPropertyOptions);
};

/**
 * Creates a class for the OpenAPI document that describes one kind of authorization.
 * @param members further members in addition to `type`
 */
export function kindOf(
  name: string,
  type: AuthorizationType,
  description: string,
  members: Readonly<Record<string, PropertyDecorator>> = {},
): Class {
  const kind = Answer({ type: ApiProperty({ enum: [type], description, example: type }), ...members });
  return Object.defineProperty(kind, 'name', { value: name });
}

/** No credentials. */
export const NoAuthorizationDto = kindOf(
  'NoAuthorizationDto',
  AuthorizationType.NoAuth,
  'The service sends no credentials.',
  {
    configuration: ApiProperty({
      type: Object,
      required: false,
      oneOf: [{ type: 'object', additionalProperties: true }, { not: { type: 'object' } }],
      description: 'Ignored and not stored.',
    }),
  },
);

/** Complete authorizations by type. API_KEY is an extension of the contract. */
const BY_TYPE = {
  [AuthorizationType.NoAuth]: NoAuthorizationDto,
  [AuthorizationType.ServiceAccount]: kindOf(
    'ServiceAccountAuthorizationDto',
    AuthorizationType.ServiceAccount,
    'Fetches an access token by OAuth 2.0 client credentials (RFC 6749, section 4.4).',
    {
      configuration: ApiProperty({
        type: Object,
        oneOf: [ClientSecretAccountDto, PrivateKeyAccountDto].map(($ref) => ({ $ref: getSchemaPath($ref) })),
        description: 'With either clientSecret or privateKey.',
      }),
    },
  ),
  [AuthorizationType.ApiKey]: kindOf(
    'ApiKeyAuthorizationDto',
    AuthorizationType.ApiKey,
    'Sends a key in a header.',
    { configuration: Shows.part(() => ApiKeyRequestDto, 'The key and how to send it.') },
  ),
} as const;

/** Extra models of classes that use {@link IsAuthorization}. */
export const AUTHORIZATION_MODELS = [
  ...Object.values(BY_TYPE),
  ClientSecretAccountDto,
  PrivateKeyAccountDto,
] as const;

/** Validates and documents the authorization of a connection. */
export const IsAuthorization = (): PropertyDecorator =>
  applyDecorators(
    IsOneKindOf(BY_TYPE, { description: 'How the service authenticates to the MCP server.' }),
    Type(() => AuthorizationRequestDto),
    IsDefined({ message: 'is required' }),
    IsObject({ message: 'must be an object' }),
    ValidateNested(),
  );
