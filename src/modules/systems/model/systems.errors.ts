import { ConflictError, InvalidRequestError, NotFoundError } from '../../../common/errors/domain.error.js';

/** Another system of this application version has the name (docs/contract.md, section 2.1). */
export class SystemNameTakenError extends ConflictError {
  readonly code = 'SYSTEM_NAME_TAKEN';
  constructor() {
    super('Name must be unique inside the project.');
  }
}

/** No such MCP system in this application version. */
export class SystemNotFoundError extends NotFoundError {
  readonly code = 'SYSTEM_NOT_FOUND';
  constructor() {
    super('System not found.');
  }
}

/** The system signs in nowhere, so there is no secret to replace. */
export class NoServiceAccountError extends ConflictError {
  readonly code = 'NO_SERVICE_ACCOUNT';
  constructor() {
    super('The system has no service account.');
  }
}

/** The host or the token endpoint changes: a stored secret must not follow to a place its owner did not choose. */
export class SecretRequiredError extends InvalidRequestError {
  readonly code = 'SECRET_REQUIRED';
  constructor() {
    super(
      'Changing baseUrl or identityProviderUrl needs the client secret again.',
      'authorization.configuration.clientSecret: is required',
    );
  }
}
