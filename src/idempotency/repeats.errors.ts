import { ConflictError } from '../platform/errors/domain.error.js';

/** The key was used for a request with a different body (docs/contract.md, section 4.3). */
export class IdempotencyKeyReusedError extends ConflictError {
  readonly code = 'IDEMPOTENCY_KEY_REUSED';
  constructor() {
    super('The Idempotency-Key was used for a request with another body.');
  }
}

/** Another request with the same key came first. Internal to services that use `RepeatsService.once`. */
export class RepeatTakenError extends Error {
  override readonly name = 'RepeatTakenError';
}
