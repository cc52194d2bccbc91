import { Type, type TypeHelpOptions } from 'class-transformer';
import { IsDefined, IsEnum, IsObject, ValidateIf, ValidateNested } from 'class-validator';
import { readSigningKey, type SigningKey } from '../../platform/secrets/signing-key.js';
import { IsCredential, IsHttpUrl } from '../../platform/validation/patterns.decorators.js';
import {
  IsClientSecret,
  IsApiKey,
  IsApiKeyHeader,
  IsKeyId,
  IsNotBeside,
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

/** The message for a type that is none. */
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
  @IsNotBeside('clientSecret')
  privateKey?: string;

  @IsKeyId()
  @IsNotBeside('clientSecret')
  keyId?: string;

  @IsHttpUrl({ description: 'OAuth 2.0 token endpoint.', example: 'https://sso.example.com/oauth2/token' })
  identityProviderUrl: string;

  @IsScope()
  scope?: string | null;

  @IsTokenParameters()
  tokenParameters?: Record<string, string> | null;
}

/** An API key, or a bearer token that does not change. An extension of the contract (docs/contract.md, section 2.1). */
export class ApiKeyRequestDto {
  @IsApiKeyHeader()
  headerName?: string;

  @IsScheme(
    'Word before the key (RFC 9110, section 11.1). Without it `Bearer` for `Authorization`, and none for other headers; null for none.',
  )
  scheme?: string | null;

  @IsApiKey(true)
  apiKey: string;
}

/** How the MCP server is reached: as it is checked. The document shows it as one of {@link AUTHORIZATION_MODELS}. */
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

/** Whether the object that a configuration stands in asks for an API key. */
export function isApiKey(options: TypeHelpOptions | undefined): boolean {
  return (options?.object as { type?: unknown } | undefined)?.type === AuthorizationType.ApiKey;
}

/** The connection that a checked request describes. NO_AUTH drops whatever configuration was sent. */
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

/** The secrets of a configuration; at most one is there. */
export interface SentSecret {
  clientSecret?: string;
  privateKey?: string;
  keyId?: string;
  apiKey?: string;
}

/** The secret that was sent, if one was, by the name that callers know, and what is known of it where it is a private key. */
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

/** A checked private key as it is kept: the key as secret, and what is known of it. */
function signingCredential(
  privateKey: string,
  keyId: string | undefined,
): { secret: string; key: PrivateKeyOptions } {
  // The check of the request has read it before.
  const key = readSigningKey(privateKey) as SigningKey;
  return { secret: key.privateKey, key: { algorithm: key.algorithm, keyId: keyId ?? key.keyId } };
}

/** Client credentials with a secret, as the document shows them. */
export class ClientSecretAccountDto extends OmitType(ServiceAccountRequestDto, [
  'clientSecret',
  'privateKey',
  'keyId',
] as const) {
  @IsClientSecret('OAuth 2.0 client secret. Stored encrypted, never returned.', 'the-secret-of-the-client')
  clientSecret: string;
}

/** Client credentials with a private key, as the document shows them. An extension of the contract. */
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

/** In the document: a member of which kind it is told by its `type`. */
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
 * A class of the document: an authorization of one kind.
 * @param members further ones than its type
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
  'Nothing is shown to the server.',
  {
    configuration: ApiProperty({
      type: Object,
      required: false,
      // Anything at all.
      oneOf: [{ type: 'object', additionalProperties: true }, { not: { type: 'object' } }],
      description: 'Ignored whatever it is, and not stored.',
    }),
  },
);

/** Kinds of requests that bring all that is needed. An API key is an extension of the contract. */
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
        description: 'Either with clientSecret or with privateKey.',
      }),
    },
  ),
  [AuthorizationType.ApiKey]: kindOf(
    'ApiKeyAuthorizationDto',
    AuthorizationType.ApiKey,
    'Sends a key in a header.',
    { configuration: Shows.part(() => ApiKeyRequestDto, 'The key, and how it is sent.') },
  ),
} as const;

/** What a class with {@link IsAuthorization} names as its extra models. */
export const AUTHORIZATION_MODELS = [
  ...Object.values(BY_TYPE),
  ClientSecretAccountDto,
  PrivateKeyAccountDto,
] as const;

/** A member that says how the MCP server is reached: which members it has is told by its `type`. */
export const IsAuthorization = (): PropertyDecorator =>
  applyDecorators(
    IsOneKindOf(BY_TYPE, { description: 'How the MCP server is reached.' }),
    Type(() => AuthorizationRequestDto),
    IsDefined({ message: 'is required' }),
    IsObject({ message: 'must be an object' }),
    ValidateNested(),
  );
