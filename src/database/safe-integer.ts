import type { ValueTransformer } from 'typeorm';

/** A stored or computed integer cannot be told from its neighbours in a JavaScript number. */
export class UnsafeIntegerError extends RangeError {
  override readonly name = 'UnsafeIntegerError';
  constructor() {
    super(`An id must be an integer from 0 to ${Number.MAX_SAFE_INTEGER}.`);
  }
}

/**
 * A bigint column as a number: MySQL and MariaDB give text, the embedded file a number.
 * @throws UnsafeIntegerError below 0 and from 2^53 on, for which two ids would become one
 */
export function toSafeInteger(value: unknown): number {
  const number = typeof value === 'number' ? value : Number(String(value));
  if (!Number.isSafeInteger(number) || number < 0 || (typeof value === 'string' && value.trim() === '')) {
    throw new UnsafeIntegerError();
  }
  return number;
}

/** Maps a bigint column to a number, null to null, both ways. */
export const safeInteger: ValueTransformer = { from: checked, to: checked };

/** Undefined stays so: TypeORM asks for columns that a query leaves out. */
function checked(value: unknown): unknown {
  return value === null || value === undefined ? value : toSafeInteger(value);
}
