import type { JsonObject, JsonValue } from '../../../common/json.js';
import { isJsonObject, jsonDepth } from '../../../common/json.js';
import { SchemaSyntaxError, SchemaTooCostlyError } from '../../../language/json-schema/json-schema.errors.js';
import { compileSchema } from '../../../language/json-schema/json-schema.js';
import type { SchemaFault } from '../../../language/json-schema/json-schema.types.js';

/** Levels, as many as the data of a run may have. */
const MAX_DEPTH = 64;
const WHOLE = '(all)';
const UNKNOWN = '(unknown member)';
/** Places in lists, as a fault names them. */
const INDEXES = /\[\d+\]/g;
const MAX_FAULTS = 20;
const MAX_FIELD_LENGTH = 500;
const MAX_PROBLEM_LENGTH = 1_000;
const FENCE = '```';

/**
 * What a text of the model says, or what is wrong with it: a sentence of bounded length for the model and for people, without
 * values and without names that the schema does not have.
 */
export type Checked = { readonly value: JsonValue } | { readonly problem: string };

/** Reads the final answer of a model: JSON that the schema of the node allows, where need be out of a code block. */
export function readAnswer(content: string | null, schema: JsonObject): Checked {
  return checked(unfenced((content ?? '').trim()), schema, 'fails');
}

/** What a code block holds; without a regular expression, for which some texts take very long. */
function unfenced(text: string): string {
  const start = text.indexOf('\n') + 1;
  const end = text.length - FENCE.length;
  const isFenced = text.startsWith(FENCE) && text.endsWith(FENCE) && start > 0 && start <= end;
  return isFenced ? text.slice(start, end) : text;
}

/**
 * Reads the arguments of a tool call: a JSON object that the tool's own schema allows. What of it this service cannot check is left
 * to the server.
 */
export function readArguments(text: string, schema: JsonObject): Checked {
  const read = checked(text.trim() === '' ? '{}' : text, schema, 'passes');
  const isObject =
    'value' in read && typeof read.value === 'object' && read.value !== null && !Array.isArray(read.value);
  return 'problem' in read || isObject ? read : { problem: 'Arguments are a JSON object.' };
}

/** @param unknown what becomes of a value when the schema has keywords that we do not know */
function checked(text: string, schema: JsonObject, unknown: 'passes' | 'fails'): Checked {
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    return { problem: 'It is not valid JSON.' };
  }
  if (jsonDepth(value) > MAX_DEPTH) {
    return { problem: `It has more than ${MAX_DEPTH} levels.` };
  }
  try {
    const faults = compileSchema(schema).check(value);
    return faults.length === 0 ? { value } : { problem: problemOf(faults, schema) };
  } catch (error) {
    if (error instanceof SchemaSyntaxError) {
      return unknown === 'passes' ? { value } : { problem: error.message };
    }
    if (error instanceof SchemaTooCostlyError) {
      return { problem: error.message };
    }
    throw error;
  }
}

function problemOf(faults: readonly SchemaFault[], schema: JsonObject): string {
  const known = new Set<string>();
  collectNames(schema, known);
  return faults
    .slice(0, MAX_FAULTS)
    .map(({ field, rule }) => `${placeOf(field, known)}: ${rule}`)
    .join('; ')
    .slice(0, MAX_PROBLEM_LENGTH);
}

/** The model chooses the names of members; only those that the schema has are told. */
function placeOf(field: string, known: ReadonlySet<string>): string {
  if (field === '') {
    return WHOLE;
  }
  if (field.length > MAX_FIELD_LENGTH) {
    return UNKNOWN;
  }
  return field
    .split('.')
    .map((part) => (known.has(part.replaceAll(INDEXES, '')) ? part : UNKNOWN))
    .join('.');
}

/** Adds all that may name a member in a schema, in parts between dots, as the place of a fault is taken apart. */
function collectNames(schema: unknown, known: Set<string>): void {
  if (typeof schema === 'string') {
    schema.split('.').forEach((part) => known.add(part));
  } else if (Array.isArray(schema)) {
    schema.forEach((each) => collectNames(each, known));
  } else if (isJsonObject(schema)) {
    for (const [name, each] of Object.entries(schema)) {
      collectNames(name, known);
      collectNames(each, known);
    }
  }
}
