import { isJsonObject } from '#engine/json';
import { yieldEventLoop } from '#engine/support';
import { canonicalJson } from '../../../platform/json/canonical-json.js';
import { DEFINITION_FIELDS, definitionHash } from '../../../platform/json/tool-definition-hash.js';
import type { FieldChange, HashedDefinition, ToolDefinition } from './tool.types.js';

/** Maximum number of reported differences of one tool. */
const MAX_CHANGES = 50;
const MAX_PATH_LENGTH = 200;
const MAX_VALUE_LENGTH = 500;

/** Adds hashes to definitions, yielding in between so that a list of several megabytes does not block other requests. */
export async function hashDefinitions(definitions: ToolDefinition[]): Promise<HashedDefinition[]> {
  const hashed: HashedDefinition[] = [];
  for (const definition of definitions) {
    await yieldEventLoop();
    hashed.push({ ...definition, definitionHash: definitionHash(definition) });
  }
  return hashed;
}

/**
 * Returns the differing values of two definitions, for a person to review. Paths are truncated to 200 characters and values to 500
 * characters of JSON, because both come from the server.
 * @param limit maximum number of differences
 */
export function definitionChanges(
  before: ToolDefinition,
  after: ToolDefinition,
  limit = MAX_CHANGES,
): FieldChange[] {
  const changes: FieldChange[] = [];
  for (const field of DEFINITION_FIELDS) {
    collect(`/${field}`, [before[field], after[field]], { changes, limit });
  }
  return changes;
}

function collect(
  path: string,
  [before, after]: [unknown, unknown],
  found: { changes: FieldChange[]; limit: number },
): void {
  if (found.changes.length >= found.limit || canonicalText(before) === canonicalText(after)) {
    return;
  }
  if (!isJsonObject(before) || !isJsonObject(after)) {
    found.changes.push({
      path: cut(path, MAX_PATH_LENGTH),
      before: cutValue(before),
      after: cutValue(after),
    });
    return;
  }
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
  for (const name of names) {
    // JSON Pointer, RFC 6901, section 3.
    const step = name.replaceAll('~', '~0').replaceAll('/', '~1');
    collect(`${path}/${step}`, [own(before, name), own(after, name)], found);
  }
}

function own(object: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function canonicalText(value: unknown): string {
  return value === undefined ? '' : canonicalJson(value);
}

function cutValue(value: unknown): string | null {
  const text = canonicalText(value);
  return text === '' ? null : cut(text, MAX_VALUE_LENGTH);
}

function cut(text: string, maxLength: number): string {
  // MySQL and MariaDB reject JSON with half a surrogate pair, so the synchronisation would fail.
  return text.length > maxLength ? `${text.slice(0, maxLength).replace(/[\ud800-\udbff]$/, '')}…` : text;
}
