import type { BuiltInPermission } from '../config/permission-rules.js';
import {
  ForbiddenError,
  InternalError,
  UnauthorizedError,
  UnavailableError,
} from '../errors/domain.error.js';
import { Permission } from './permission.js';

const INVALID = 'The access token is not valid.';

const DETAILS = {
  missing: 'Send the header "Authorization: Bearer <access token>".',
  malformed: 'Send exactly one Authorization header of the form "Bearer <access token>".',
  expired: 'The access token has expired.',
  not_yet_valid: 'The access token is not valid yet.',
  unknown_key: INVALID,
  refused: 'The token is not an access token for this service.',
  inactive: 'The access token is no longer active.',
  signature: INVALID,
  issuer: INVALID,
  audience: INVALID,
  invalid: INVALID,
};

/** Why a request has no principal. A label of metrics and logs, so the set is closed and small. */
export type AuthenticationFailure = keyof typeof DETAILS;

/** 401: no bearer token, or one that is not accepted (RFC 6750, section 3). Never quotes the token. */
export class AuthenticationRequiredError extends UnauthorizedError {
  readonly code = 'AUTHENTICATION_REQUIRED';
  readonly challenge: string;
  constructor(
    readonly reason: AuthenticationFailure,
    { cause, hasToken = reason !== 'missing' }: ErrorOptions & { hasToken?: boolean } = {},
  ) {
    super('Authentication required or failed.', DETAILS[reason], { cause });
    // RFC 6750, section 3.1: a request without a token gets no error code.
    this.challenge = hasToken ? 'Bearer error="invalid_token"' : 'Bearer';
  }
}

/** 500: the signing keys of the issuer are not available, so no token can be verified. Our fault, hence never a 401. */
export class KeySourceUnavailableError extends InternalError {
  readonly code = 'KEY_SOURCE_UNAVAILABLE';
  constructor(options?: ErrorOptions) {
    super('The signing keys of the token issuer are not available.', undefined, options);
  }
}

/**
 * 503: the issuer does not report whether a token is still active, so the request is rejected. Not a 401, because the
 * token may be valid.
 */
export class IntrospectionUnavailableError extends UnavailableError {
  readonly code = 'INTROSPECTION_UNAVAILABLE';
  readonly retryAfterSeconds = 1;
  constructor(options?: ErrorOptions) {
    super('The token issuer does not answer whether the token is active.', undefined, options);
  }
}

/** Each permission needs a message here and a scope in permission-rules.ts; the compiler reports missing ones. */
const DENIALS: Readonly<Record<Permission, string>> = {
  [Permission.IntegrationManagement]: 'Insufficient permissions to access Integration Management',
  [Permission.ApplicationDelivery]: 'Insufficient permissions to deliver applications',
  [Permission.ProcessRead]: 'Insufficient permissions to read process data',
  [Permission.ProcessAdministration]: 'Insufficient permissions to administer processes',
  [Permission.ProcessData]: 'Insufficient permissions to correct process data',
  [Permission.WorkflowTest]: 'Insufficient permissions to test workflows',
  [Permission.ToolCall]: 'Insufficient permissions to call tools',
  [Permission.ToolUse]: 'Insufficient permissions to use the tools of the application',
} satisfies Record<BuiltInPermission, string>;

/** Returns the message of a 403. Permissions that a deployment defines share a general one. */
export function denialOf(permission: string): string {
  const denials: Readonly<Record<string, string>> = DENIALS;
  return denials[permission] ?? 'Insufficient permissions';
}

/** 403: the principal lacks the permission of the route (docs/contract.md, section 1). */
export class PermissionDeniedError extends ForbiddenError {
  readonly code = 'PERMISSION_DENIED';
  constructor(readonly permission: string) {
    super(denialOf(permission));
  }
}
