/** What JSON text can say (RFC 8259). */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [name: string]: JsonValue };

/** Process data, and any other JSON object whose members are data. */
export type JsonObject = Record<string, unknown>;

/** Whether a value is a JSON object, so neither null nor an array nor a scalar. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The size of a JSON value as UTF-8 text, in bytes. */
export function jsonSize(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}

/**
 * Looks into a list or object of JSON, without a copy of its members: an object can have very many.
 * @param found takes the lists and objects that are directly in it
 * @returns how many values are directly in it
 */
export function openContainer(container: object, found: object[]): number {
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

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
