import { STATUS_CODES } from 'node:http';
import { Answer, Shows } from '../openapi/answer-fields.decorators.js';

/** Error body of all endpoints (docs/contract.md, section 1; same shape as for the platform rescan). */
export class ErrorResponseDto extends Answer({
  error: Shows.value('HTTP reason phrase.', 'Conflict'),
  message: Shows.value('Human-readable description of the error.', 'Name must be unique inside the project.'),
  status: Shows.number('HTTP status code.', 409),
  details: Shows.optionalValue(
    'The invalid field and the reason; for a 500 the request id to report to the operators.',
    'payload.baseUrl: must be an http or https URL',
  ),
}) {}

export function errorBody(status: number, message: string, details?: string): ErrorResponseDto {
  return {
    error: STATUS_CODES[status] ?? 'Error',
    message,
    status,
    ...(details === undefined ? {} : { details }),
  };
}

/** Adds the members of RFC 9457, section 3.1, for callers that accept `application/problem+json`. */
export function problemBody(body: ErrorResponseDto): object {
  return { ...body, type: 'about:blank', title: body.error, detail: body.details ?? body.message };
}
