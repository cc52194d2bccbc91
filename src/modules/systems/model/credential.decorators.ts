import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Matches, ValidateBy, ValidateIf, buildMessage, type ValidationArguments } from 'class-validator';
import { PRIVATE_KEY_MAX_LENGTH, readSigningKey } from '../../../common/secrets/signing-key.js';
import { IfSent, IsCredential } from '../../../common/validation/patterns.decorators.js';
import {
  isApiKeyHeader,
  isScheme,
  isScope,
  MAX_TOKEN_PARAMETERS,
  SCOPE_MAX_LENGTH,
  TOKEN_PARAMETER_MAX_LENGTH,
  tokenParametersRule,
} from '../../../common/validation/credential-rules.js';

/** Longest API key that is stored, in characters. A JSON Web Token that is used as one can have 2,000. */
const API_KEY_MAX_LENGTH = 4_096;

const SCHEME_RULE =
  'Word before the key (RFC 9110, section 11.1). Without it `Bearer` for `Authorization`, and none for other headers; null for none.';

/** A private key that can sign assertions, as PEM or JWK. */
export const IsPrivateKey = ({ required }: { required: boolean } = { required: false }): PropertyDecorator =>
  applyDecorators(
    ApiProperty({
      type: String,
      required,
      writeOnly: true,
      format: 'password',
      maxLength: PRIVATE_KEY_MAX_LENGTH,
      description:
        'In place of clientSecret: signs assertions for the token endpoint (private_key_jwt, RFC 7523). PEM without a password, or a JWK as ' +
        'JSON text: RSA of 2,048 to 4,096 bits, EC on P-256, P-384 or P-521, or Ed25519. Stored encrypted, never returned.',
      example: '-----BEGIN PRIVATE KEY-----\n…\n-----END PRIVATE KEY-----',
    }),
    IfSent(),
    rule(
      'isPrivateKey',
      (value) => typeof value === 'string' && readSigningKey(value) !== undefined,
      'must be a private key in PEM or JWK: RSA of 2,048 to 4,096 bits, EC on P-256, P-384 or P-521, or Ed25519',
    ),
  );

/** Key id of a private key. */
export const IsKeyId = (): PropertyDecorator =>
  applyDecorators(
    IsCredential(255, {
      required: false,
      description:
        'Key id by which the token endpoint knows the private key (`kid`). Without it that of the JWK.',
      example: 'key-2026',
    }),
    IfSent(),
  );

/** A member that another member of its object excludes. */
export const IsNotBeside = (other: string): PropertyDecorator =>
  rule(
    'isNotBeside',
    (_value, { object }) => (object as Record<string, unknown>)[other] === undefined,
    `must not be sent beside ${other}`,
  );

/** The text of an API key: printable ASCII that a header holds as it is. */
export const IsApiKey = (required: boolean): PropertyDecorator =>
  applyDecorators(
    IsCredential(API_KEY_MAX_LENGTH, {
      required,
      description: 'The key, or a token that does not change. Stored encrypted, never returned.',
      format: 'password',
      writeOnly: true,
      example: 'the-api-key-of-the-server',
    }),
    Matches(/^(?! ).*(?<! )$/s, { message: 'must not begin or end with a space' }),
    ...(required ? [] : [IfSent()]),
  );

/** Name of the header that an API key is sent in. */
export const IsApiKeyHeader = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({
      type: String,
      required: false,
      maxLength: 64,
      default: 'Authorization',
      description:
        'Header that the key is sent in. Headers of the connection and of the protocol are refused.',
      example: 'X-API-Key',
    }),
    IfSent(),
    rule('isApiKeyHeader', isApiKeyHeader, 'must be the name of a header that can hold a key'),
  );

/** Authentication scheme before an API key. */
export const IsScheme = (description = SCHEME_RULE): PropertyDecorator =>
  applyDecorators(
    ApiProperty({
      type: String,
      required: false,
      nullable: true,
      maxLength: 64,
      description,
      example: 'Bearer',
    }),
    ValidateIf((_object, value) => value !== undefined && value !== null),
    rule('isScheme', isScheme, 'must be the name of an authentication scheme, or null'),
  );

/** Scope of the access tokens of a service account; null for none. */
export const IsScope = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({
      type: String,
      required: false,
      nullable: true,
      minLength: 1,
      maxLength: SCOPE_MAX_LENGTH,
      description:
        'Extension: `scope` of the token request (RFC 6749, section 3.3); null or absent for none.',
      example: 'inventory.read',
    }),
    ValidateIf((_object, value) => value !== undefined && value !== null),
    rule(
      'isScope',
      isScope,
      `must be names with one space between them, ${SCOPE_MAX_LENGTH} characters at most`,
    ),
  );

/** Extra fields of the token request of a service account; null for none. */
export const IsTokenParameters = (): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({
      type: 'object',
      additionalProperties: { type: 'string', minLength: 1, maxLength: TOKEN_PARAMETER_MAX_LENGTH },
      maxProperties: MAX_TOKEN_PARAMETERS,
      nullable: true,
      description:
        'Extension: further fields of the token request, such as `audience`; null or absent for none. They are shown, so they are no place for secrets.',
      example: { audience: 'https://inventory.example.com' },
    }),
    ValidateIf((_object, value) => value !== undefined && value !== null),
    ValidateBy({
      name: 'isTokenParameters',
      validator: {
        validate: (value: unknown) => tokenParametersRule(value) === undefined,
        defaultMessage: (args?: ValidationArguments) => tokenParametersRule(args?.value) ?? '',
      },
    }),
  );

function rule(
  name: string,
  validate: (value: unknown, args: ValidationArguments) => boolean,
  message: string,
): PropertyDecorator {
  return ValidateBy({
    name,
    validator: {
      validate: (value, args) => args !== undefined && validate(value, args),
      defaultMessage: buildMessage(() => message),
    },
  });
}
