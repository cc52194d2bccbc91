import { applyDecorators, type Type as Class } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { Type, type TypeHelpOptions } from 'class-transformer';
import {
  IsObject,
  IsOptional,
  IsString,
  Matches,
  ValidateBy,
  ValidateNested,
  type ValidationArguments,
} from 'class-validator';
import { HasLength, IfSent, IsCredential } from '../../platform/validation/patterns.decorators.js';
import { CONTRACT_MESSAGE } from '../../platform/validation/request-validation.pipe.js';
import { RESOURCE_NAME, RESOURCE_NAME_MAX_LENGTH } from '../../platform/validation/resource-name.js';
import { PRIVATE_KEY_MAX_LENGTH, readSigningKey } from '../../platform/secrets/signing-key.js';
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
} from '../../platform/validation/credential-rules.js';

/** Message of the contract (docs/contract.md, section 2.1). */
export const RESOURCE_NAME_MESSAGE =
  'Name can only contain letters, numbers and the following special characters [] () . _ -';

/** Name rule for resources (docs/contract.md, section 2.1). */
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

/** Maximum length of an API key in characters. A JSON Web Token used as one can have 2,000. */
const API_KEY_MAX_LENGTH = 4_096;

/** Returns what is wrong with a value, or undefined. */
type Rule = (value: unknown, args: ValidationArguments | undefined) => string | undefined;

const rule =
  (fits: (value: unknown) => boolean, message: string): Rule =>
  (value) =>
    fits(value) ? undefined : message;

function check(name: string, problemOf: Rule): PropertyDecorator {
  return ValidateBy({
    name,
    validator: {
      validate: (value, args) => problemOf(value, args) === undefined,
      defaultMessage: (args) => problemOf(args?.value, args) ?? '',
    },
  });
}

/** Skips validation of a member that was not sent, or that is null if it is nullable. */
const mayBeAbsent = ({ nullable }: ApiPropertyOptions): PropertyDecorator =>
  nullable === true ? IsOptional() : IfSent();

/** Optional member with a custom rule. */
const Optional = (name: string, options: ApiPropertyOptions, problemOf: Rule): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ required: false, ...options } as ApiPropertyOptions),
    mayBeAbsent(options),
    check(name, problemOf),
  );

/** Optional object with its own rules. @param type returns its class, which can depend on the enclosing object */
export const IsOptionalPart = (
  type: (options?: TypeHelpOptions) => Class,
  options: ApiPropertyOptions,
): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ type: () => type(), required: false, ...options } as ApiPropertyOptions),
    mayBeAbsent(options),
    IsObject({ message: 'must be an object' }),
    ValidateNested(),
    Type(type),
  );

/** A client secret. @param required absent leaves it to the default of the class */
export const IsClientSecret = (description: string, example: string, required?: false): PropertyDecorator =>
  IsCredential(1_024, {
    ...(required === undefined ? {} : { required }),
    description,
    format: 'password',
    writeOnly: true,
    example,
  });

/** A private key that can sign assertions, as PEM or JWK. */
export const IsPrivateKey = (options: { required?: true } = {}): PropertyDecorator =>
  Optional(
    'isPrivateKey',
    {
      type: String,
      ...options,
      writeOnly: true,
      format: 'password',
      maxLength: PRIVATE_KEY_MAX_LENGTH,
      description:
        'Replaces clientSecret: signs assertions for the token endpoint (private_key_jwt, RFC 7523). PEM without a password, or a JWK as ' +
        'JSON text: RSA of 2,048 to 4,096 bits, EC on P-256, P-384 or P-521, or Ed25519. Stored encrypted, never returned.',
      example: '-----BEGIN PRIVATE KEY-----\n…\n-----END PRIVATE KEY-----',
    },
    rule(
      (value) => typeof value === 'string' && readSigningKey(value) !== undefined,
      'must be a private key in PEM or JWK: RSA of 2,048 to 4,096 bits, EC on P-256, P-384 or P-521, or Ed25519',
    ),
  );

export const IsKeyId = (): PropertyDecorator =>
  applyDecorators(
    IsCredential(255, {
      required: false,
      description: 'Key id of the private key at the token endpoint (`kid`). Default: the key id of the JWK.',
      example: 'key-2026',
    }),
    IfSent(),
  );

/** A member that must not be sent together with other members of its object. */
export const IsExclusiveOf = (...others: string[]): PropertyDecorator =>
  applyDecorators(
    ...others.map((other) =>
      check('isExclusiveOf', (_value, args) =>
        ((args?.object ?? {}) as Record<string, unknown>)[other] === undefined
          ? undefined
          : `must not be sent together with ${other}`,
      ),
    ),
  );

/** An API key: printable ASCII that can be sent in a header. */
export const IsApiKey = (required: boolean): PropertyDecorator =>
  applyDecorators(
    IsCredential(API_KEY_MAX_LENGTH, {
      required,
      description: 'API key or static token. Stored encrypted, never returned.',
      format: 'password',
      writeOnly: true,
      example: 'the-api-key-of-the-server',
    }),
    Matches(/^(?! ).*(?<! )$/s, { message: 'must not begin or end with a space' }),
    ...(required ? [] : [IfSent()]),
  );

/** Name of the header for an API key. */
export const IsApiKeyHeader = (): PropertyDecorator =>
  Optional(
    'isApiKeyHeader',
    {
      type: String,
      maxLength: 64,
      default: 'Authorization',
      description: 'Header for the key. Headers of HTTP connections and of the protocol are not allowed.',
      example: 'X-API-Key',
    },
    rule(isApiKeyHeader, 'must be the name of a header that can hold a key'),
  );

/** Authentication scheme before an API key. */
export const IsScheme = (description: string): PropertyDecorator =>
  Optional(
    'isScheme',
    { type: String, nullable: true, maxLength: 64, description, example: 'Bearer' },
    rule(isScheme, 'must be the name of an authentication scheme, or null'),
  );

/** Scope of the access tokens of a service account; null for none. */
export const IsScope = (): PropertyDecorator =>
  Optional(
    'isScope',
    {
      type: String,
      nullable: true,
      minLength: 1,
      maxLength: SCOPE_MAX_LENGTH,
      description:
        'Extension: `scope` of the token request (RFC 6749, section 3.3); null or absent for none.',
      example: 'inventory.read',
    },
    rule(isScope, `must be names with one space between them, ${SCOPE_MAX_LENGTH} characters at most`),
  );

/** Extra fields of the token request of a service account; null for none. */
export const IsTokenParameters = (): PropertyDecorator =>
  Optional(
    'isTokenParameters',
    {
      type: 'object',
      additionalProperties: { type: 'string', minLength: 1, maxLength: TOKEN_PARAMETER_MAX_LENGTH },
      maxProperties: MAX_TOKEN_PARAMETERS,
      nullable: true,
      description:
        'Extension: additional fields of the token request, such as `audience`; null or absent for none. Returned by the API, so they must not contain secrets.',
      example: { audience: 'https://inventory.example.com' },
    },
    tokenParametersRule,
  );

/** Static headers; null for none. */
export const IsHeaders = (description: string): PropertyDecorator =>
  Optional(
    'isHeaders',
    {
      type: 'object',
      additionalProperties: { type: 'string', minLength: 1, maxLength: HEADERS_MAX_BYTES },
      maxProperties: MAX_HEADERS,
      nullable: true,
      writeOnly: true,
      description: `Extension: names and values of headers to send with every request to the server, ${HEADERS_MAX_BYTES} bytes in total. Stored encrypted; values are never returned. ${description}`,
      example: { 'X-Tenant': 'acme', 'X-Client-Token': 'the-token-of-the-client' },
    },
    (value, args) => headersRule(value, siblingApiKeyHeader(args)),
  );

/** Deadline of the tool calls of a system; null for the default of the deployment. */
export const IsTimeout = (): PropertyDecorator =>
  Optional(
    'isTimeout',
    {
      type: 'integer',
      minimum: 1,
      maximum: TIMEOUT_MAX_MS,
      nullable: true,
      description:
        'Extension: deadline of one tool call of the system in milliseconds; null or absent for 30 seconds.',
      example: 120_000,
    },
    rule(
      (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= TIMEOUT_MAX_MS,
      `must be a whole number from 1 to ${TIMEOUT_MAX_MS}`,
    ),
  );

function siblingApiKeyHeader(args: ValidationArguments | undefined): string | undefined {
  const { authorization } = (args?.object ?? {}) as {
    authorization?: { configuration?: { headerName?: unknown } };
  };
  const name = authorization?.configuration?.headerName;
  return typeof name === 'string' ? name : undefined;
}
