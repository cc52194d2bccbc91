import { jsonDepth, jsonSize, type JsonObject } from '../../json/json.js';
import { SchemaSyntaxError } from '../../json-schema/json-schema.types.js';
import { compileSchema } from '../../json-schema/json-schema.js';
import { describeMisspeltRequired } from '../../json-schema/required-names.js';
import type { Values } from '../draft/values.js';

const MAX_BYTES = 65_536;
const MAX_DEPTH = 32;
const DRAFT = 'https://json-schema.org/draft/2020-12/schema';

/** Checks a JSON Schema (draft 2020-12) for data from callers: its size, and whether it compiles. */
export function checkSchema(schema: JsonObject | null, what: string, values: Values): void {
  if (schema === null) {
    return;
  }
  const problem = sizeProblem(schema) ?? draftProblem(schema) ?? faultOf(schema);
  const typo = problem === undefined ? describeMisspeltRequired(schema) : undefined;
  if (problem !== undefined) {
    values.error('INVALID_SCHEMA', `${what} ${problem}`);
  } else if (typo !== undefined) {
    values.warning('REQUIRED_UNKNOWN', `${what}: ${typo}`);
  }
}

function sizeProblem(schema: JsonObject): string | undefined {
  const small = jsonSize(schema) <= MAX_BYTES && jsonDepth(schema) <= MAX_DEPTH;
  return small ? undefined : `can have at most ${MAX_BYTES} bytes and ${MAX_DEPTH} levels.`;
}

function draftProblem({ $schema }: JsonObject): string | undefined {
  const known = $schema === undefined || $schema === DRAFT;
  return known ? undefined : 'must be JSON Schema draft 2020-12; other drafts are not supported.';
}

function faultOf(schema: JsonObject): string | undefined {
  try {
    compileSchema(schema);
    return undefined;
  } catch (error) {
    if (error instanceof SchemaSyntaxError) {
      return `cannot be used: ${error.message}`;
    }
    throw error;
  }
}
