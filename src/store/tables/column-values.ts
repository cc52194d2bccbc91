import type { ValueTransformer, EntityManager } from 'typeorm';
import { bufferOf } from '../../platform/json/packed-text.js';
import { isEmbedded } from './row-locks.js';

/** A row as a driver returns it, column values by alias. */
export type RawRow = Record<string, unknown>;

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

/**
 * A bigint column as a number: MySQL and MariaDB give text, the embedded file a number.
 * @throws RangeError below 0 and from 2^53 on, for which two ids would become one
 */
export function toSafeInteger(value: unknown): number {
  const number = typeof value === 'number' ? value : Number(String(value));
  if (!Number.isSafeInteger(number) || number < 0 || (typeof value === 'string' && value.trim() === '')) {
    throw new RangeError(`An id must be an integer from 0 to ${Number.MAX_SAFE_INTEGER}.`);
  }
  return number;
}

/** Maps a bigint column to a number, null to null, both ways. */
export const safeInteger: ValueTransformer = { from: checked, to: checked };

/** Undefined stays so: TypeORM asks for columns that a query leaves out. */
function checked(value: unknown): unknown {
  return value === null || value === undefined ? value : toSafeInteger(value);
}

const BEFORE = '{"text":';
const AFTER = '}';

/**
 * Maps a text of any length to a `json` column and back, character by character. A `text` column ends at 65,535 bytes on
 * MySQL and MariaDB. A `json` column by itself would give members back in an order of MySQL's own.
 *
 * Texts of megabytes do not go through it: see `storedBytes` and `textExpression`.
 */
export const storedText: ValueTransformer = {
  to: (text: string | null | undefined) => (typeof text === 'string' ? { text } : text),
  from: (stored: { text: string } | null | undefined) => stored?.text ?? null,
};

/** The text of such a column in a raw row: MySQL gives an object, MariaDB and the embedded file its JSON. */
export function toStoredText(value: unknown): string {
  return ((typeof value === 'string' ? JSON.parse(value) : value) as { text: string }).text;
}

/** A text as such a column holds it, in UTF-8. To make it is as much work as the text is large; to send it is next to none. */
export function storedBytes(text: string): Uint8Array {
  return new TextEncoder().encode(`${BEFORE}${JSON.stringify(text)}${AFTER}`);
}

/** The JSON of a text alone, of what `storedBytes` made. */
export function quotedIn(stored: Uint8Array): Uint8Array {
  return stored.subarray(BEFORE.length, -AFTER.length);
}

/** The place in a statement of what `textValue` gives. */
export function textPlace({ connection }: EntityManager): string {
  return isEmbedded(connection) ? '?' : 'CONVERT(? USING utf8mb4)';
}

/** What `storedBytes` made as a value of a statement. The driver of the embedded file binds no buffers. */
export function textValue({ connection }: EntityManager, stored: Uint8Array): Buffer | string {
  const bytes = bufferOf(stored);
  return isEmbedded(connection) ? bytes.toString() : bytes;
}

/** The text of such a column as an expression that need not be read as JSON, see `textBytes`. */
export function textExpression({ connection }: EntityManager, column: string): string {
  return isEmbedded(connection)
    ? `json_extract(${column}, '$.text')`
    : `CAST(JSON_UNQUOTE(JSON_EXTRACT(${column}, '$.text')) AS BINARY)`;
}

/** What a driver gives for such an expression, in UTF-8. */
export function textBytes(value: unknown): Buffer {
  return typeof value === 'string' ? Buffer.from(value) : (value as Buffer);
}

/** Maps JSON values to a column of `storedText` and back: members keep their order, null stays null. */
export const storedJson: ValueTransformer = {
  to: (value: unknown) =>
    storedText.to(value === null || value === undefined ? value : JSON.stringify(value)) as unknown,
  from: (stored: unknown) => {
    const text = storedText.from(stored) as string | null;
    return text === null ? null : (JSON.parse(text) as unknown);
  },
};
