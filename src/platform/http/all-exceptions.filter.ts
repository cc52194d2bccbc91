import {
  Catch,
  HttpException,
  NotFoundException,
  type ArgumentsHost,
  type ExceptionFilter,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { challengeOf } from '../auth/protected-resource.js';
import { Env } from '../config/env.js';
import { requestContext } from '../observability/logging/request-context.js';
import { errorFields } from '../observability/logging/error-fields.js';
import { Log } from '../observability/logging/log.js';
import { Metrics } from '../observability/metrics/metrics.js';
import {
  ConflictError,
  DomainError,
  ForbiddenError,
  InternalError,
  InvalidRequestError,
  MethodNotAllowedError,
  NotFoundError,
  PreconditionFailedError,
  PreconditionRequiredError,
  TooManyRequestsError,
  UnauthorizedError,
  UnavailableError,
  UnknownOutcomeError,
} from '../errors/domain.error.js';
import { allowedMethods, routeOf } from './request-routes.js';
import { withReplayHeader } from './answer-headers.js';
import { errorBody, problemBody, type ErrorResponseDto } from '../errors/error.response.dto.js';
import { InterruptedAfterStoringError, WrongMethodError } from '../errors/request.errors.js';

const PROBLEM_TYPE = 'application/problem+json';

/** Maps every error to its status and the common error body, and logs faults of the service. */
@Catch()
export class AllExceptionsFilter implements ExceptionFilter {
  constructor(
    private readonly log: Log,
    private readonly metrics: Metrics,
    private readonly env: Env,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<Request>();
    const error = outcomeOf(thrown, request);
    const response = http.getResponse<Response>();
    const body = toErrorBody(error);
    const fields = { method: request.method, route: routeOf(request, '') };
    if (isFault(body.status)) {
      this.log.error('request failed', error, fields);
    }
    if (error instanceof UnavailableError && error.cause !== undefined) {
      this.log.warn('request not served', { ...fields, code: error.code, ...errorFields(error.cause) });
    }
    if (error instanceof UnauthorizedError || error instanceof ForbiddenError) {
      this.noteRefusal(error);
    }
    if (error instanceof TooManyRequestsError) {
      this.metrics.limits.refused(error.limit);
    }
    if (response.headersSent) {
      response.destroy();
      return;
    }
    setHeaders(response, error);
    const challenge = challengeOf(error, this.env, request);
    if (challenge !== undefined) {
      response.setHeader('WWW-Authenticate', challenge);
    }
    const [type, shown] = acceptsProblem(request)
      ? [PROBLEM_TYPE, problemBody(body)]
      : ['application/json', body];
    // A route that responds with another type may have set its Content-Type already.
    response.status(body.status).type(type).send(JSON.stringify(shown));
  }

  private noteRefusal(error: UnauthorizedError | ForbiddenError): void {
    const reason = error instanceof UnauthorizedError ? error.reason : undefined;
    this.metrics.authFailures.inc({ reason: reason ?? 'forbidden' });
    const context = requestContext();
    if (context !== undefined) {
      context.refusal = reason ?? error.code;
    }
  }
}

/** Replaces errors that would be wrong here: a 503 promises that nothing was stored, and a 404 of a known path is a 405. */
function outcomeOf(error: unknown, request: Request): unknown {
  // Nest throws this exception when no route matches.
  const allowed = error instanceof NotFoundException ? allowedMethods(request) : undefined;
  if (allowed !== undefined) {
    return new WrongMethodError(allowed);
  }
  return error instanceof UnavailableError && requestContext()?.hasStored === true
    ? new InterruptedAfterStoringError({ cause: error })
    : error;
}

/** Reports whether the `Accept` header names problem documents without `q=0` (RFC 9110, section 12.5.1). */
function acceptsProblem(request: Request): boolean {
  const ranges = (request.get('accept') ?? '').toLowerCase().split(',');
  return ranges.some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    return type === PROBLEM_TYPE && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}

export function toErrorBody(error: unknown): ErrorResponseDto {
  const status = error instanceof DomainError ? statusOfKind(error) : statusOfForeign(error);
  if (isFault(status)) {
    const message =
      error instanceof UnknownOutcomeError ? error.message : 'The server could not complete the request.';
    return errorBody(status, message, `request id ${requestContext()?.requestId ?? 'unknown'}`);
  }
  if (error instanceof DomainError) {
    return { ...errorBody(status, error.message, error.details), ...error.extension };
  }
  if (isUndecodablePath(error)) {
    return errorBody(status, 'The path is not valid.', 'its %-encoded bytes must be UTF-8');
  }
  return errorBody(status, status === 404 ? 'No such endpoint.' : 'The request is not valid.');
}

/** Reports an error of the router, whose URIError Nest has wrapped in an exception with the same message. */
function isUndecodablePath(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Failed to decode param');
}

/** Reports a fault of the service, for which the body contains only the request id. A 503 is not a fault. */
function isFault(status: number): boolean {
  return status >= 500 && status !== 503;
}

function statusOfKind(error: DomainError): number {
  const kinds = [
    [InvalidRequestError, 400],
    [UnauthorizedError, 401],
    [ForbiddenError, 403],
    [NotFoundError, 404],
    [MethodNotAllowedError, 405],
    [ConflictError, 409],
    [PreconditionFailedError, 412],
    [PreconditionRequiredError, 428],
    [TooManyRequestsError, 429],
    [InternalError, 500],
    [UnavailableError, 503],
  ] as const;
  return kinds.find(([kind]) => error instanceof kind)?.[1] ?? 500;
}

/** Returns the status of errors of Nest (unknown route) and Express (undecodable path). */
function statusOfForeign(error: unknown): number {
  const status = error instanceof HttpException ? error.getStatus() : error instanceof URIError ? 400 : 500;
  return status >= 500 || [400, 401, 403, 404, 409, 429].includes(status) ? Math.min(status, 500) : 400;
}

function setHeaders(response: Response, error: unknown): void {
  if (error instanceof DomainError) {
    withReplayHeader(response, error);
  }
  if (error instanceof MethodNotAllowedError) {
    response.setHeader('Allow', error.allowed);
  }
  if (error instanceof TooManyRequestsError || error instanceof UnavailableError) {
    response.setHeader('Retry-After', String(error.retryAfterSeconds));
  }
}
