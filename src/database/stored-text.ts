import type { EntityManager, ValueTransformer } from 'typeorm';
import { bufferOf } from '../common/buffer-of.js';
import { isEmbedded } from './row-locks.js';

/** What stands around the text in such a column. */
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

/** Of a text without anything that JSON escapes, such as base64: its characters, of what `storedBytes` made. */
export function packedIn(stored: Uint8Array): Buffer {
  return bufferOf(quotedIn(stored).subarray(1, -1));
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
