import type { JsonObject, JsonValue } from '../../common/data-paths.js';
import { jsonDepth } from '../../common/data-paths.js';
import { SchemaSyntaxError, SchemaTooCostlyError } from '../../common/json-schema/json-schema.errors.js';
import { compileSchema } from '../../common/json-schema/json-schema.js';

/** Levels, as many as the data of a run may have. */
const MAX_DEPTH = 64;
const WHOLE = '(all)';
const FENCED = /^```[a-z]*\s*\n([\s\S]*?)\n?\s*```$/i;

/** What a text of the model says, or what is wrong with it: a sentence for the model and for people, without values. */
export type Checked = { readonly value: JsonValue } | { readonly problem: string };

/** Reads the final answer of a model: JSON that the schema of the node allows, where need be out of a code block. */
export function readAnswer(content: string | null, schema: JsonObject): Checked {
  const text = (content ?? '').trim();
  return checked(FENCED.exec(text)?.[1] ?? text, schema, 'fails');
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
    return faults.length === 0
      ? { value }
      : { problem: faults.map(({ field, rule }) => `${field === '' ? WHOLE : field}: ${rule}`).join('; ') };
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
