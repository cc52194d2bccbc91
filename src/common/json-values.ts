import { openContainer } from './json.js';
import { COMMA, endOfString, LIST, LIST_END, OBJECT, OBJECT_END, QUOTE, SPACE } from './json-bytes.js';

/**
 * How many values a JSON text has, those inside of others included (RFC 8259). Its bytes are looked at and nothing is made of them, so a
 * text that would take memory and time out of proportion to its size is found before it is parsed.
 * @param bytes UTF-8; of a text that is no JSON the number means nothing
 * @param most counting ends beyond this
 */
export function countValues(bytes: Uint8Array, most: number): number {
  let count = 1;
  let isOpened = false;
  for (let at = 0; at < bytes.length && count <= most; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte > SPACE) {
      // The first member of a list or object; each other one has a comma before it.
      count += byte === COMMA || (isOpened && !isEnd(byte)) ? 1 : 0;
      isOpened = byte === LIST || byte === OBJECT;
      at = byte === QUOTE ? endOfString(bytes, at) : at;
    }
  }
  return count;
}

function isEnd(byte: number): boolean {
  return byte === LIST_END || byte === OBJECT_END;
}

/** Whether a JSON value has more values than that, itself and those inside of others included. */
export function hasMoreValues(value: unknown, most: number): boolean {
  const pending: object[] = [];
  let count = openContainer([value], pending);
  for (let next = pending.pop(); next !== undefined && count <= most; next = pending.pop()) {
    count += openContainer(next, pending);
  }
  return count > most;
}
