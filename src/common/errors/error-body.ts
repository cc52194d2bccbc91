import { STATUS_CODES } from 'node:http';

/** The one error body (docs/contract.md, section 1). */
export interface ErrorBody {
  error: string;
  message: string;
  status: number;
  details?: string;
}

/** Members that RFC 9457, section 3.1 adds for callers that accept `application/problem+json`. */
export interface ProblemBody extends ErrorBody {
  type: string;
  title: string;
  detail: string;
}

/** Builds the error body of a status. */
export function errorBody(status: number, message: string, details?: string): ErrorBody {
  return {
    error: STATUS_CODES[status] ?? 'Error',
    message,
    status,
    ...(details === undefined ? {} : { details }),
  };
}

/** The same body with the members of a problem document. */
export function problemBody(body: ErrorBody): ProblemBody {
  return { ...body, type: 'about:blank', title: body.error, detail: body.details ?? body.message };
}
