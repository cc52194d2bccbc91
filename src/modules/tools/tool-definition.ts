import { createHash } from 'node:crypto';
import { canonicalJson } from '../../common/canonical-json.js';
import type { FieldChange, ToolDefinition } from './tool.types.js';

const HASH_VERSION = 'svc-tool-1';
const DEFINITION_FIELDS = ['title', 'description', 'inputSchema', 'outputSchema', 'annotations'] as const;
const MAX_CHANGES = 50;
const MAX_VALUE_LENGTH = 500;

/**
 * Fingerprint of everything a model is told about a tool. Two definitions with one hash are the same to an agent.
 * @returns 64 hexadecimal digits
 */
export function definitionHash(definition: ToolDefinition): string {
  const content = [HASH_VERSION, definition.name, ...DEFINITION_FIELDS.map((field) => definition[field])];
  return createHash('sha256').update(canonicalJson(content)).digest('hex');
}

/**
 * What differs between two definitions, value by value, for a person to review. Values are cut to 500 characters of
 * JSON; of more than 50 differences the first 50 are named.
 */
export function definitionChanges(before: ToolDefinition, after: ToolDefinition): FieldChange[] {
  const changes: FieldChange[] = [];
  for (const field of DEFINITION_FIELDS) {
    collect(`/${field}`, [before[field], after[field]], changes);
  }
  return changes.slice(0, MAX_CHANGES);
}

function collect(path: string, [before, after]: [unknown, unknown], changes: FieldChange[]): void {
  if (changes.length >= MAX_CHANGES || canonicalText(before) === canonicalText(after)) {
    return;
  }
  if (!isObject(before) || !isObject(after)) {
    changes.push({ path, before: cut(before), after: cut(after) });
    return;
  }
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
  for (const name of names) {
    // JSON Pointer, RFC 6901, section 3.
    const step = name.replaceAll('~', '~0').replaceAll('/', '~1');
    collect(`${path}/${step}`, [own(before, name), own(after, name)], changes);
  }
}

function own(object: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function canonicalText(value: unknown): string {
  return value === undefined ? '' : canonicalJson(value);
}

function cut(value: unknown): string | null {
  const text = canonicalText(value);
  if (text === '') {
    return null;
  }
  return text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
