import { parseExactly, refuseRounded, RoundedIntegerError } from '../json/exact-json.js';
import { type JsonObject, type JsonValue, isJsonObject, jsonDepth } from '../json/json.js';
import type { SchemaOrigin } from './dialect.js';
import { SchemaSyntaxError, SchemaTooCostlyError, type SchemaFault } from './json-schema.types.js';
import { compileSchema } from './json-schema.js';

/** Levels, as many as the data of a workflow run may have. */
const MAX_DEPTH = 64;
const WHOLE = '(all)';
const UNKNOWN = '(unknown member)';
const INDEXES = /\[\d+\]/g;
const MAX_FAULTS = 20;
const MAX_FIELD_LENGTH = 500;
const MAX_PROBLEM_LENGTH = 1_000;

/**
 * The parsed value, or a problem as a sentence of bounded length for the model and for people. The problem quotes no values and
 * only names that occur in the schema.
 */
export type CheckedText = { readonly value: JsonValue } | { readonly problem: string };

/**
 * Parses the answer of a language model as JSON and validates it. Never throws because of the text or the schema.
 * @param origin with `foreign`, any value passes a schema that uses unsupported keywords
 */
export function checkedText(text: string, schema: JsonObject, origin: SchemaOrigin): CheckedText {
  let value: JsonValue;
  try {
    value = parseExactly(text, refuseRounded) as JsonValue;
  } catch (error) {
    const isRounded = error instanceof RoundedIntegerError;
    return { problem: isRounded ? `${error.message}.` : 'It is not valid JSON.' };
  }
  if (jsonDepth(value) > MAX_DEPTH) {
    return { problem: `It has more than ${MAX_DEPTH} levels.` };
  }
  try {
    const faults = compileSchema(schema, origin).check(value);
    return faults.length === 0 ? { value } : { problem: problemOf(faults, schema) };
  } catch (error) {
    if (error instanceof SchemaSyntaxError) {
      return origin === 'foreign' ? { value } : { problem: error.message };
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

/** Hides names that the model made up: only names in the schema are reported. */
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

/** Collects every string of a schema that may name a member, split at dots like the field of a fault. */
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
