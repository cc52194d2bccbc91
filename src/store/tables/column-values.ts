import type { ValueTransformer, EntityManager } from 'typeorm';
import { bufferOf } from '../../platform/json/packed-text.js';
import { isEmbedded } from './row-locks.js';

/** A row as a driver returns it, column values by alias. */
export type RawRow = Record<string, unknown>;

/** Converts a datetime column: mysql2 returns a Date, the embedded file UTC text. */
export function toDate(value: unknown): Date {
  return value instanceof Date ? value : new Date(`${String(value).replace(' ', 'T')}Z`);
}

/** Parses a simple-json column, which is text on every database. */
export function toJson(value: unknown): unknown {
  return JSON.parse(value as string);
}

/** Converts a boolean column, which is 0 or 1 on every database. */
export function toBoolean(value: unknown): boolean {
  return Number(value) === 1;
}

/**
 * Converts a bigint column to a number: MySQL and MariaDB return text, the embedded file a number.
 * @throws RangeError for values below 0, and from 2^53, where different ids would become equal
 */
export function toSafeInteger(value: unknown): number {
  const number = typeof value === 'number' ? value : Number(String(value));
  if (!Number.isSafeInteger(number) || number < 0 || (typeof value === 'string' && value.trim() === '')) {
    throw new RangeError(`An id must be an integer from 0 to ${Number.MAX_SAFE_INTEGER}.`);
  }
  return number;
}

/** Maps a bigint column to a number and back. Null stays null. */
export const safeInteger: ValueTransformer = { from: checked, to: checked };

/** Undefined stays undefined: TypeORM also transforms columns that a query does not select. */
function checked(value: unknown): unknown {
  return value === null || value === undefined ? value : toSafeInteger(value);
}

const PREFIX = '{"text":';
const SUFFIX = '}';

/**
 * Maps a text of any length to a `json` column and back without changes. A `text` column is limited to 65,535 bytes on MySQL and
 * MariaDB, and MySQL reorders the members of JSON objects.
 *
 * For texts of megabytes use `storedBytes` and `textExpression` instead.
 */
export const storedText: ValueTransformer = {
  to: (text: string | null | undefined) => (typeof text === 'string' ? { text } : text),
  from: (stored: { text: string } | null | undefined) => stored?.text ?? null,
};

/** Returns the text of a `storedText` column in a raw row: MySQL returns an object, MariaDB and the embedded file its JSON. */
export function toStoredText(value: unknown): string {
  return ((typeof value === 'string' ? JSON.parse(value) : value) as { text: string }).text;
}

/** Encodes a text for a `storedText` column in UTF-8, in time proportional to its length. Sending the result is cheap. */
export function storedBytes(text: string): Uint8Array {
  return new TextEncoder().encode(`${PREFIX}${JSON.stringify(text)}${SUFFIX}`);
}

/** Returns the JSON of the text alone from the result of `storedBytes`. */
export function quotedIn(stored: Uint8Array): Uint8Array {
  return stored.subarray(PREFIX.length, -SUFFIX.length);
}

/** Returns the placeholder in a statement for the result of `textValue`. */
export function textPlace({ connection }: EntityManager): string {
  return isEmbedded(connection) ? '?' : 'CONVERT(? USING utf8mb4)';
}

/** Converts the result of `storedBytes` to a value of a statement. The driver of the embedded file does not bind buffers. */
export function textValue({ connection }: EntityManager, stored: Uint8Array): Buffer | string {
  const bytes = bufferOf(stored);
  return isEmbedded(connection) ? bytes.toString() : bytes;
}

/** Returns an SQL expression for the text of a `storedText` column, without JSON encoding; read it with `textBytes`. */
export function textExpression({ connection }: EntityManager, column: string): string {
  return isEmbedded(connection)
    ? `json_extract(${column}, '$.text')`
    : `CAST(JSON_UNQUOTE(JSON_EXTRACT(${column}, '$.text')) AS BINARY)`;
}

/** Converts the value of a `textExpression` to UTF-8 bytes. */
export function textBytes(value: unknown): Buffer {
  return typeof value === 'string' ? Buffer.from(value) : (value as Buffer);
}

/** Maps JSON values to a `storedText` column and back. Members keep their order, null stays null. */
export const storedJson: ValueTransformer = {
  to: (value: unknown) =>
    storedText.to(value === null || value === undefined ? value : JSON.stringify(value)) as unknown,
  from: (stored: unknown) => {
    const text = storedText.from(stored) as string | null;
    return text === null ? null : (JSON.parse(text) as unknown);
  },
};
