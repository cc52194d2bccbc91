import { byteLength } from './byte-length.js';
import { COMMA, endOfByteString, LIST, LIST_END, OBJECT, OBJECT_END, QUOTE, SPACE } from './json-bytes.js';

/** Any JSON value (RFC 8259). */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [name: string]: JsonValue };

/** Process data, and any other JSON object whose members are data. */
export type JsonObject = Record<string, unknown>;

/** Whether a value is a JSON object: not null, an array or a scalar. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Parses JSON text. Returns undefined if the text is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Returns the size of a value as JSON text, in UTF-8 bytes. */
export function jsonSize(value: unknown): number {
  return byteLength(JSON.stringify(value) ?? '');
}

/** Counts the members of a list or object and collects the containers among them. Copies nothing, since an object can be very large. */
function openContainer(container: object, found: object[]): number {
  if (Array.isArray(container)) {
    for (const member of container as readonly unknown[]) {
      if (isContainer(member)) {
        found.push(member);
      }
    }
    return container.length;
  }
  let count = 0;
  for (const name in container) {
    count += 1;
    const member = (container as JsonObject)[name];
    if (isContainer(member)) {
      found.push(member);
    }
  }
  return count;
}

/** Returns the depth of a JSON value: 0 for a scalar, 1 for an object or array that holds only scalars. */
export function jsonDepth(value: unknown): number {
  let depth = 0;
  // Iterates level by level, because recursion could overflow the stack.
  let level = isContainer(value) ? [value] : [];
  while (level.length > 0) {
    depth += 1;
    const next: object[] = [];
    for (const container of level) {
      openContainer(container, next);
    }
    level = next;
  }
  return depth;
}

/** Whether a JSON value is a list or an object. */
export function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/**
 * Counts the values in JSON text, nested ones included, without parsing it, so that text which would take disproportionate
 * time and memory can be rejected first.
 * @param bytes UTF-8; the count is meaningless if the text is not JSON
 * @param most counting stops once it is exceeded
 */
export function countValues(bytes: Uint8Array, most: number): number {
  let count = 1;
  let isOpened = false;
  for (let at = 0; at < bytes.length && count <= most; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte > SPACE) {
      // Counts the first member of a container; every other one follows a comma.
      count += byte === COMMA || (isOpened && !isEnd(byte)) ? 1 : 0;
      isOpened = byte === LIST || byte === OBJECT;
      at = byte === QUOTE ? endOfByteString(bytes, at) : at;
    }
  }
  return count;
}

function isEnd(byte: number): boolean {
  return byte === LIST_END || byte === OBJECT_END;
}

/** Whether a JSON value holds more than `most` values, itself and nested ones included. */
export function hasMoreValues(value: unknown, most: number): boolean {
  const pending: object[] = [];
  let count = openContainer([value], pending);
  for (let next = pending.pop(); next !== undefined && count <= most; next = pending.pop()) {
    count += openContainer(next, pending);
  }
  return count > most;
}
