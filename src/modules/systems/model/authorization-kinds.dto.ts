import { applyDecorators, type Type as Class } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions, getSchemaPath, OmitType, PickType } from '@nestjs/swagger';
import { Answer, Shows } from '../../../common/answer-fields.decorators.js';
import { Type } from 'class-transformer';
import { IsDefined, IsObject, ValidateNested } from 'class-validator';
import {
  ApiKeyRequestDto,
  AuthorizationRequestDto,
  ServiceAccountRequestDto,
} from './authorization.request.dto.js';
import { IsClientSecret, IsKeyId, IsPrivateKey } from './system-field.decorator.js';
import { AuthorizationType } from './system.types.js';

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
