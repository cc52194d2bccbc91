import { ConflictError, InvalidRequestError, NotFoundError } from '../../platform/errors/domain.error.js';

/** Another system of this application version has the same name (docs/contract.md, section 2.1). */
export class SystemNameTakenError extends ConflictError {
  readonly code = 'SYSTEM_NAME_TAKEN';
  constructor() {
    super(
      'Name must be unique inside the project.',
      'resourceName: is taken by another system of this version',
    );
  }
}

export class SystemNotFoundError extends NotFoundError {
  readonly code = 'SYSTEM_NOT_FOUND';
  constructor() {
    super('System not found.');
  }
}

/** The system has no service account, so there is no secret to replace. */
export class NoServiceAccountError extends ConflictError {
  readonly code = 'NO_SERVICE_ACCOUNT';
  constructor() {
    super('The system has no service account.');
  }
}

/** The request names other headers than those of the system, whose names are part of its definition. */
export class OtherHeadersError extends ConflictError {
  readonly code = 'OTHER_HEADERS';
  constructor() {
    super('The system has other headers.', 'headers: must contain exactly the headers of the system');
  }
}

/** The system has no API key to replace. */
export class NoApiKeyError extends ConflictError {
  readonly code = 'NO_API_KEY';
  constructor() {
    super('The system has no API key.');
  }
}

const SECRET_FIELDS = {
  apiKey: 'authorization.configuration.apiKey',
  clientSecret: 'authorization.configuration.clientSecret',
  clientKey: 'tls.clientKey',
  headers: 'headers',
} as const;

/** A change of the server, the token endpoint or the trusted authorities requires the secrets again, so that they never reach a destination that their owner did not choose. */
export class SecretRequiredError extends InvalidRequestError {
  readonly code = 'SECRET_REQUIRED';

  /** @param names secrets to send again @param changesTrust whether the authorities change */
  constructor(names: readonly (keyof typeof SECRET_FIELDS)[], changesTrust: boolean) {
    super(
      changesTrust || names.join() !== 'clientSecret'
        ? 'Changing baseUrl, identityProviderUrl or tls.caCertificates needs the stored secrets again.'
        : 'Changing baseUrl or identityProviderUrl needs the client secret again.',
      names.map((name) => `${SECRET_FIELDS[name]}: is required`).join('; '),
    );
  }
}
