import type { OutboundOperation } from '../../../common/outbound/outbound.operation.js';
import { retryAfterOf } from '../../../common/outbound/retry-after.js';
import type { ConnectionFailureCause } from '../model/connection-failure.types.js';

/** What a token endpoint answered. */
export interface TokenAnswer {
  status: number;
  /** Members of the JSON object or fields of the form; empty for anything else. */
  body: Readonly<Record<string, unknown>>;
  /** `Retry-After` in milliseconds; null without one. */
  retryAfterMs: number | null;
}

const FORM = /^(application\/x-www-form-urlencoded|text\/plain)\b/i;

/** Error codes (RFC 6749, section 5.2; RFC 8707; OpenID Connect), as far as they say what to change. */
const CAUSES: Readonly<Record<string, ConnectionFailureCause>> = {
  invalid_client: 'invalid_client',
  unauthorized_client: 'token_grant',
  unsupported_grant_type: 'token_grant',
  invalid_scope: 'token_scope',
  invalid_request: 'token_request',
  access_denied: 'token_denied',
  invalid_target: 'token_denied',
  invalid_resource: 'token_denied',
};

/** Reads an answer of a token endpoint: JSON (RFC 6749, section 5), or a form, which some endpoints send. */
export async function readTokenAnswer(
  response: Response,
  operation: OutboundOperation,
): Promise<TokenAnswer> {
  const text = await operation.race(response.text());
  const isForm = FORM.test(response.headers.get('content-type') ?? '');
  return {
    status: response.status,
    body: jsonObject(text) ?? (isForm ? Object.fromEntries(new URLSearchParams(text)) : {}),
    retryAfterMs: retryAfterOf(response.headers),
  };
}

/** Returns why an answer without success brings no token. */
export function causeOfAnswer({ status, body }: TokenAnswer): ConnectionFailureCause {
  const error = body['error'];
  // Keycloak answers `unauthorized_client` with 401 to a wrong secret.
  const isTold = typeof error === 'string' && status !== 401 && status !== 429;
  const known = isTold ? CAUSES[error] : undefined;
  return known ?? causeOfStatus(status);
}

function causeOfStatus(status: number): ConnectionFailureCause {
  switch (status) {
    case 401:
      return 'invalid_client';
    case 403:
      return 'token_denied';
    case 429:
      return 'token_busy';
    default:
      return status >= 500 ? 'token_error' : 'token_invalid';
  }
}

function jsonObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
  } catch {
    return undefined;
  }
}
