import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { ValidateBy, ValidateIf, type ValidationArguments } from 'class-validator';
import {
  HEADERS_MAX_BYTES,
  headersRule,
  MAX_HEADERS,
  TIMEOUT_MAX_MS,
} from '../../../common/validation/credential-rules.js';

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
    ValidateBy({
      name: 'isHeaders',
      validator: {
        validate: (value: unknown, args) => headersRule(value, apiKeyHeaderBeside(args)) === undefined,
        defaultMessage: (args) => headersRule(args?.value, apiKeyHeaderBeside(args)) ?? '',
      },
    }),
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
    ValidateBy({
      name: 'isTimeout',
      validator: {
        validate: (value: unknown) =>
          Number.isInteger(value) && Number(value) >= 1 && Number(value) <= TIMEOUT_MAX_MS,
        defaultMessage: () => `must be a whole number from 1 to ${TIMEOUT_MAX_MS}`,
      },
    }),
  );

function apiKeyHeaderBeside(args: ValidationArguments | undefined): string | undefined {
  const { authorization } = (args?.object ?? {}) as {
    authorization?: { configuration?: { headerName?: unknown } };
  };
  const name = authorization?.configuration?.headerName;
  return typeof name === 'string' ? name : undefined;
}
