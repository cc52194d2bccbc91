import { STATUS_CODES } from 'node:http';
import { applyDecorators, type Type } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, getSchemaPath, type ApiResponseOptions } from '@nestjs/swagger';
import { ErrorResponseDto } from '../errors/error.response.dto.js';

const MEANINGS = {
  400: 'Invalid parameters or validation failure.',
  401: 'Authentication required or failed.',
  403: 'Insufficient permissions.',
  404: 'Resource not found.',
  409: 'Conflict with stored data: the resource already exists, or its state does not allow the request.',
  412: 'The state that `If-Match` names is no longer the current one.',
  428: 'The deployment requires `If-Match` (HTTP_REQUIRE_IF_MATCH).',
  429: 'Too many requests. Send the request again after the time in Retry-After.',
  500: 'Server-side error; `details` contains the request id to report.',
  503: 'Temporarily unavailable: this replica is stopping, or the database is unavailable or overloaded. Nothing was stored. Send the request again after the time in Retry-After.',
} as const;

/** An error status of the contract. */
export type ErrorStatus = keyof typeof MEANINGS;

const EXAMPLES: Record<ErrorStatus, { message: string; details?: string }> = {
  400: { message: 'Request validation failed.', details: 'name: is required' },
  401: { message: 'Authentication required or failed.' },
  403: { message: 'Insufficient permissions to access Integration Management' },
  404: { message: 'System not found.' },
  409: { message: 'Name must be unique inside the project.' },
  412: { message: 'It was changed meanwhile: read it again.', details: 'If-Match' },
  428: {
    message: 'If-Match is required: send the ETag of what was read.',
    details: 'HTTP_REQUIRE_IF_MATCH',
  },
  429: { message: 'Too many requests.' },
  500: {
    message: 'The server could not complete the request.',
    details: 'request id 0a6f2c4e-2a57-4f0c-9a55-0d6d3f6c8f11',
  },
  503: { message: 'This replica of the service is stopping.' },
};

const RETRY_AFTER = {
  description: 'Seconds to wait before the next request.',
  required: true,
  schema: { type: 'integer', minimum: 1 },
} as const;

const HEADERS: { [Status in ErrorStatus]?: NonNullable<ApiResponseOptions['headers']> } = {
  401: {
    'WWW-Authenticate': {
      description: 'How to authenticate (RFC 6750), with an error if a token was sent and rejected.',
      required: true,
      schema: { type: 'string', enum: ['Bearer', 'Bearer error="invalid_token"'] },
    },
  },
  429: { 'Retry-After': { ...RETRY_AFTER, example: 42 } },
  503: { 'Retry-After': { ...RETRY_AFTER, example: 1 } },
};

/** An error status of a route, with the usual message or with the route's own. */
export type RouteError = ErrorStatus | OwnMessages;

type OwnMessages = Partial<Record<ErrorStatus, string | OwnError>>;

interface OwnError {
  message: string;
  details?: string;
  type?: Type<ErrorResponseDto>;
  headers?: NonNullable<ApiResponseOptions['headers']>;
}

/** Documents the error statuses of a route, all with the common error body. Every route has 401, 429, 500 and 503. */
export function apiErrors(entries: readonly RouteError[]): MethodDecorator {
  const own: OwnMessages = Object.assign({}, ...entries.filter((entry) => typeof entry === 'object'));
  const named = entries.filter((entry) => typeof entry === 'number');
  const ownStatuses = Object.keys(own).map((text) => Number(text) as ErrorStatus);
  const statuses = new Set<ErrorStatus>([...named, ...ownStatuses, 401, 429, 500, 503]);
  return applyDecorators(...[...statuses].map((status) => apiError(status, own[status])));
}

function apiError(status: ErrorStatus, own: string | OwnError = EXAMPLES[status].message): MethodDecorator {
  const { type, headers, ...shown } = typeof own === 'string' ? { message: own } : own;
  const schema = { $ref: getSchemaPath(type ?? ErrorResponseDto) };
  const example = { error: STATUS_CODES[status], ...EXAMPLES[status], ...shown, status };
  return applyDecorators(
    ...(type === undefined ? [] : [ApiExtraModels(type)]),
    ApiResponse({
      status,
      description: MEANINGS[status],
      headers: { ...HEADERS[status], ...headers },
      content: { 'application/json': { schema, example } },
    }),
  );
}
