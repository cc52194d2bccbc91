import { isJsonObject, type JsonObject } from '#engine/json';
import { runAfterYield, runYielding } from '#engine/support';
import {
  SchemaSyntaxError,
  SchemaTooCostlyError,
  REQUIRED_RULE,
  type SchemaFault,
  compileSchema,
} from '#engine/json-schema';

const WHOLE = '(all)';
/** Keywords that determine whether a member may be null. */
const TYPED: readonly string[] = ['type', 'enum', 'const', '$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'if'];

/** Compiled models of cached workflows. */
const COMPILED = new WeakMap<JsonObject, ReturnType<typeof compileSchema>>();

/**
 * Validates input or output against its model, a JSON Schema (2020-12). A required member that is null counts as missing
 * unless the model declares its type, because unresolved references become null.
 * @returns description of the violations, without values; undefined if valid
 */
export async function modelProblem(schema: JsonObject | null, value: unknown): Promise<string | undefined> {
  if (schema === null) {
    return undefined;
  }
  try {
    const compiled = COMPILED.get(schema) ?? (await runAfterYield(() => compileSchema(schema)));
    COMPILED.set(schema, compiled);
    const faults = [...(await runYielding(compiled.steps(value))), ...missingAsNull(schema, value)];
    return faults.length === 0
      ? undefined
      : faults.map(({ field, rule }) => `${field === '' ? WHOLE : field}: ${rule}`).join('; ');
  } catch (error) {
    if (error instanceof SchemaSyntaxError || error instanceof SchemaTooCostlyError) {
      return error.message;
    }
    throw error;
  }
}

function missingAsNull(schema: JsonObject, value: unknown): SchemaFault[] {
  const required: unknown[] = Array.isArray(schema['required']) ? schema['required'] : [];
  const models = isJsonObject(schema['properties']) ? schema['properties'] : {};
  return required
    .filter((name) => typeof name === 'string')
    .filter((name) => isJsonObject(value) && Object.hasOwn(value, name) && value[name] === null)
    .filter((name) => !isTyped(Object.hasOwn(models, name) ? models[name] : undefined))
    .map((field) => ({ field, rule: REQUIRED_RULE }));
}

function isTyped(model: unknown): boolean {
  return isJsonObject(model) && TYPED.some((keyword) => Object.hasOwn(model, keyword));
}
