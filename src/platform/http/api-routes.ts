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

/** Documentation of a route in the OpenAPI document. */
export interface RouteText {
  readonly summary: string;
  readonly description: string;
  /** The route needs no token, so it has neither security nor the errors of all other routes. */
  readonly isPublic?: true;
  readonly headers?: readonly ApiHeaderOptions[];
  readonly body?: ApiBodyOptions;
  /** Success status of the route, 200 by default. */
  readonly status?: HttpStatus;
  readonly answer: ApiResponseNoStatusOptions;
  /** Further responses with bodies of their own, errors too. */
  readonly others?: readonly ApiResponseOptions[];
  readonly errors?: readonly RouteError[];
}

/**
 * Creates the decorators of a controller's routes: success status and documentation in the OpenAPI document.
 * @param errors errors of all these routes, in addition to 400, 401, 429, 500 and 503
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
