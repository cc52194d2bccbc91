import type { ValueTransformer } from 'typeorm';

/**
 * Maps a text of any length to a `json` column and back, character by character. A `text` column ends at 65,535 bytes on
 * MySQL and MariaDB. A `json` column by itself would give members back in an order of MySQL's own.
 */
export const storedText: ValueTransformer = {
  to: (text: string | null | undefined) => (typeof text === 'string' ? { text } : text),
  from: (stored: { text: string } | null | undefined) => stored?.text ?? null,
};

/** The text of such a column in a raw row: MySQL gives an object, MariaDB and the embedded file its JSON. */
export function toStoredText(value: unknown): string {
  return ((typeof value === 'string' ? JSON.parse(value) : value) as { text: string }).text;
}
