import { applyDecorators, HttpCode, HttpStatus } from '@nestjs/common';
import {
  ApiBody,
  ApiHeader,
  ApiOperation,
  ApiResponse,
  type ApiBodyOptions,
  type ApiHeaderOptions,
  type ApiResponseNoStatusOptions,
  type ApiResponseOptions,
} from '@nestjs/swagger';
import { apiErrors, type RouteError } from './api-errors.js';

/** A JSON object whose shape is data. */
export const ANY_OBJECT = { type: 'object', additionalProperties: true } as const;

/** What the OpenAPI document says of a route. */
export interface RouteText {
  readonly summary: string;
  readonly description: string;
  /** Takes callers without a token: no security, and none of the errors that every other route has. */
  readonly isPublic?: true;
  readonly headers?: readonly ApiHeaderOptions[];
  readonly body?: ApiBodyOptions;
  /** Status of `answer`, which the route then has; 200 without it. */
  readonly status?: HttpStatus;
  readonly answer: ApiResponseNoStatusOptions;
  /** Answers with a body of the route's own, errors too. */
  readonly others?: readonly ApiResponseOptions[];
  readonly errors?: readonly RouteError[];
}

/**
 * Makes the decorators of a controller's routes: status of success and description in the OpenAPI document.
 * @param errors what all of them have, besides 400, 401, 429, 500 and 503
 */
export function apiRoutes<Id extends string>(
  errors: readonly RouteError[],
  texts: Readonly<Record<Id, RouteText>>,
): Readonly<Record<Id, MethodDecorator>> {
  const decorators = Object.entries<RouteText>(texts).map(([id, text]) => [id, apiRoute(id, text, errors)]);
  return Object.fromEntries(decorators) as Record<Id, MethodDecorator>;
}

function apiRoute(operationId: string, text: RouteText, shared: readonly RouteError[]): MethodDecorator {
  const { summary, description, isPublic, headers = [], body, answer, others = [], errors = [] } = text;
  const status = text.status ?? HttpStatus.OK;
  return applyDecorators(
    HttpCode(status),
    ApiOperation({ operationId, summary, description, ...(isPublic ? { security: [] } : {}) }),
    ...headers.map((header) => ApiHeader(header)),
    ...(body === undefined ? [] : [ApiBody(body)]),
    ...(isPublic ? [] : [apiErrors([400, ...shared, ...errors])]),
    ...[{ ...answer, status }, ...others].map((response) => ApiResponse(response)),
  );
}
