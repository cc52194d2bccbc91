import { byteLength } from './byte-length.js';
import { COMMA, endOfByteString, LIST, LIST_END, OBJECT, OBJECT_END, QUOTE, SPACE } from './json-bytes.js';

/** What JSON text can say (RFC 8259). */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [name: string]: JsonValue };

/** Process data, and any other JSON object whose members are data. */
export type JsonObject = Record<string, unknown>;

/** Whether a value is a JSON object, so neither null nor an array nor a scalar. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a JSON text says; undefined for any other text. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The size of a JSON value as UTF-8 text, in bytes. */
export function jsonSize(value: unknown): number {
  return byteLength(JSON.stringify(value) ?? '');
}

/** Looks into a list or object of JSON, without a copy of its members: an object can have very many. */
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

/** Levels of a JSON value: 0 for a scalar, 1 for an object or array that holds only scalars. */
export function jsonDepth(value: unknown): number {
  let depth = 0;
  // Level by level, since data of any depth must not exhaust the stack.
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
      at = byte === QUOTE ? endOfByteString(bytes, at) : at;
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
