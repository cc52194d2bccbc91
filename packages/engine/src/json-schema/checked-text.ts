import { parseExactly, refuseRounded, RoundedIntegerError } from '../json/exact-json.js';
import { type JsonObject, type JsonValue, isJsonObject, jsonDepth } from '../json/json.js';
import type { SchemaOrigin } from './dialect.js';
import { SchemaSyntaxError, SchemaTooCostlyError, type SchemaFault } from './json-schema.types.js';
import { compileSchema } from './json-schema.js';

/** Levels, as many as the data of a run may have. */
const MAX_DEPTH = 64;
const WHOLE = '(all)';
const UNKNOWN = '(unknown member)';
const INDEXES = /\[\d+\]/g;
const MAX_FAULTS = 20;
const MAX_FIELD_LENGTH = 500;
const MAX_PROBLEM_LENGTH = 1_000;

/**
 * The value of a text of the model, or its problem: a sentence of bounded length for the model and for people. It has no
 * values, and no names that the schema does not have.
 */
export type CheckedText = { readonly value: JsonValue } | { readonly problem: string };

/**
 * Reads a text of a language model: JSON that a schema allows. Never throws for what stands in either.
 * @param origin a value that a foreign schema speaks of in keywords that we do not know passes
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
