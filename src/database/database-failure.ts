import { isFailureOfDatabase } from './database.errors.js';
import { isDriverFailure } from './driver-errors.js';

/**
 * Whether an error says nothing about the work during which it came, only about our own database. The database was away,
 * full, read-only, overloaded or too slow, or a table was missing.
 */
export function isDatabaseFailure(error: unknown): boolean {
  return isFailureOfDatabase(error) || isDriverFailure(error);
}
