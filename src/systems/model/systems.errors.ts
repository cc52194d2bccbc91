import { ConflictError, InvalidRequestError, NotFoundError } from '../../platform/errors/domain.error.js';

/** Another system of this application version has the name (docs/contract.md, section 2.1). */
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

/** The system signs in nowhere, so there is no secret to replace. */
export class NoServiceAccountError extends ConflictError {
  readonly code = 'NO_SERVICE_ACCOUNT';
  constructor() {
    super('The system has no service account.');
  }
}

/** The system has other headers than those whose values were sent; their names are part of its definition. */
export class OtherHeadersError extends ConflictError {
  readonly code = 'OTHER_HEADERS';
  constructor() {
    super(
      'The system has other headers.',
      'headers: must name the headers of the system, all of them and no other',
    );
  }
}

/** The system sends no API key, so there is none to replace. */
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

/** The host, the token endpoint or who is trusted there changes: a stored secret must not follow to a place its owner did not choose. */
export class SecretRequiredError extends InvalidRequestError {
  readonly code = 'SECRET_REQUIRED';

  /** @param names secrets to give again @param changesTrust whether it is the authorities that change */
  constructor(names: readonly (keyof typeof SECRET_FIELDS)[], changesTrust: boolean) {
    super(
      changesTrust || names.join() !== 'clientSecret'
        ? 'Changing baseUrl, identityProviderUrl or tls.caCertificates needs the stored secrets again.'
        : 'Changing baseUrl or identityProviderUrl needs the client secret again.',
      names.map((name) => `${SECRET_FIELDS[name]}: is required`).join('; '),
    );
  }
}
