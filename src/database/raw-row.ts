/** A row as a driver returns it, column values by alias. */
export type RawRow = Readonly<Record<string, unknown>>;

/** A datetime column: mysql2 gives a Date, the embedded file UTC text. */
export function toDate(value: unknown): Date {
  return value instanceof Date ? value : new Date(`${String(value).replace(' ', 'T')}Z`);
}

/** A simple-json column: text on every database. */
export function toJson(value: unknown): unknown {
  return JSON.parse(value as string);
}

/** A boolean column: 0 or 1 on every database. */
export function toBoolean(value: unknown): boolean {
  return Number(value) === 1;
}
