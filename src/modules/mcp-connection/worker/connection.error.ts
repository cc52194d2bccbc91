import type { ConnectionFailureCause } from '../model/connection-failure.types.js';

/** A connection test that failed for a known cause. The message is the cause: nothing foreign can be in it. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  constructor(readonly failure: ConnectionFailureCause) {
    super(failure);
  }
}
