import { InvalidRequestError } from '../../common/errors/domain.error.js';

/** The schema is not one that can be used; the message says where and why. For whoever publishes it. */
export class SchemaSyntaxError extends Error {
  override readonly name = 'SchemaSyntaxError';
}

/** A check was given up because of the work that value and schema together ask for. */
export class SchemaTooCostlyError extends InvalidRequestError {
  readonly code = 'SCHEMA_TOO_COSTLY';
  constructor() {
    super('Holding the body against its JSON schema asks for too much work; send a smaller one.');
  }
}
