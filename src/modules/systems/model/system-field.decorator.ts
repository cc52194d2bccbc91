import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions, ApiPropertyOptional } from '@nestjs/swagger';
import { IsString, Matches, ValidateBy, ValidateIf, type ValidationArguments } from 'class-validator';
import { HasLength, IfSent, IsCredential } from '../../../common/validation/patterns.decorators.js';
import { CONTRACT_MESSAGE } from '../../../common/validation/request-validation.pipe.js';
import { RESOURCE_NAME, RESOURCE_NAME_MAX_LENGTH } from '../../../common/validation/resource-name.js';
import { PRIVATE_KEY_MAX_LENGTH, readSigningKey } from '../../../common/secrets/signing-key.js';
import {
  isApiKeyHeader,
  isScheme,
  isScope,
  MAX_TOKEN_PARAMETERS,
  SCOPE_MAX_LENGTH,
  TOKEN_PARAMETER_MAX_LENGTH,
  tokenParametersRule,
  HEADERS_MAX_BYTES,
  headersRule,
  MAX_HEADERS,
  TIMEOUT_MAX_MS,
} from '../../../common/validation/credential-rules.js';

/** The words of the contract (docs/contract.md, section 2.1). */
export const RESOURCE_NAME_MESSAGE =
  'Name can only contain letters, numbers and the following special characters [] () . _ -';

/** The name rule of resources (docs/contract.md, section 2.1). */
export const IsResourceName = (options: ApiPropertyOptions): PropertyDecorator =>
  applyDecorators(
    ApiProperty({
      type: String,
      minLength: 1,
      maxLength: RESOURCE_NAME_MAX_LENGTH,
      pattern: RESOURCE_NAME.source,
      ...options,
    }),
    IsString({ message: 'must be a string' }),
    Matches(RESOURCE_NAME, {
      message: RESOURCE_NAME_MESSAGE,
      context: { [CONTRACT_MESSAGE]: RESOURCE_NAME_MESSAGE },
    }),
    HasLength(1, RESOURCE_NAME_MAX_LENGTH),
  );

/** Longest API key that is stored, in characters. A JSON Web Token that is used as one can have 2,000. */
const API_KEY_MAX_LENGTH = 4_096;

const SCHEME_RULE =
  'Word before the key (RFC 9110, section 11.1). Without it `Bearer` for `Authorization`, and none for other headers; null for none.';

/** A client secret. @param required is told by the class where it is left out */
export const IsClientSecret = (description: string, example: string, required?: false): PropertyDecorator =>
  IsCredential(1_024, {
    ...(required === undefined ? {} : { required }),
    description,
    format: 'password',
    writeOnly: true,
    example,
  });

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
    check('isTokenParameters', tokenParametersRule),
  );

function rule(
  name: string,
  validate: (value: unknown, args: ValidationArguments) => boolean,
  message: string,
): PropertyDecorator {
  return check(name, (value, args) => (args !== undefined && validate(value, args) ? undefined : message));
}

/** @param problemOf says what is wrong, if anything is */
function check(
  name: string,
  problemOf: (value: unknown, args: ValidationArguments | undefined) => string | undefined,
): PropertyDecorator {
  return ValidateBy({
    name,
    validator: {
      validate: (value, args) => problemOf(value, args) === undefined,
      defaultMessage: (args) => problemOf(args?.value, args) ?? '',
    },
  });
}

/** Static headers; null for none. */
export const IsHeaders = (description: string): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({
      type: 'object',
      additionalProperties: { type: 'string', minLength: 1, maxLength: HEADERS_MAX_BYTES },
      maxProperties: MAX_HEADERS,
      nullable: true,
      writeOnly: true,
      description: `Extension: names and values of headers of every request to the server, ${HEADERS_MAX_BYTES} bytes in all. Stored encrypted, values are never returned. ${description}`,
      example: { 'X-Tenant': 'acme', 'X-Client-Token': 'the-token-of-the-client' },
    }),
    ValidateIf((_object, value) => value !== undefined && value !== null),
    check('isHeaders', (value, args) => headersRule(value, apiKeyHeaderBeside(args))),
  );

/** Deadline of the tool calls of a system; null for that of the deployment. */
export const IsTimeout = (): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({
      type: 'integer',
      minimum: 1,
      maximum: TIMEOUT_MAX_MS,
      nullable: true,
      description:
        'Extension: deadline of one tool call of the system in milliseconds; null or absent for 30 seconds.',
      example: 120_000,
    }),
    ValidateIf((_object, value) => value !== undefined && value !== null),
    rule(
      'isTimeout',
      (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= TIMEOUT_MAX_MS,
      `must be a whole number from 1 to ${TIMEOUT_MAX_MS}`,
    ),
  );

function apiKeyHeaderBeside(args: ValidationArguments | undefined): string | undefined {
  const { authorization } = (args?.object ?? {}) as {
    authorization?: { configuration?: { headerName?: unknown } };
  };
  const name = authorization?.configuration?.headerName;
  return typeof name === 'string' ? name : undefined;
}
