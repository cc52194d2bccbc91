import { RE2JS } from '@bufbuild/re2';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { jsonDepth, type JsonObject } from '../../../common/data-paths.js';
import type { Values } from './values.js';

const MAX_BYTES = 65_536;
const MAX_DEPTH = 32;
const REFERENCES = ['$ref', '$dynamicRef'];
/** Keywords whose members are data and no schemas. */
const DATA = new Set(['const', 'enum', 'default', 'examples']);
/** Keywords whose members are named freely. */
const NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);

const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });

/**
 * Checks a JSON Schema (draft 2020-12) that data from callers will be held against: its form, its size, that every reference
 * stays in it, and that its patterns are RE2 expressions, which can be matched without backtracking.
 */
export function checkSchema(schema: JsonObject | null, what: string, values: Values): void {
  if (schema !== null && hasForm(schema, what, values)) {
    partsOf(schema).forEach((part) => checkPart(part, schema, what, values));
  }
}

function hasForm(schema: JsonObject, what: string, values: Values): boolean {
  const problem = sizeProblem(schema) ?? draftProblem(schema) ?? formProblem(schema);
  if (problem !== undefined) {
    values.error('INVALID_SCHEMA', `${what} ${problem}`);
  }
  return problem === undefined;
}

function sizeProblem(schema: JsonObject): string | undefined {
  const small = Buffer.byteLength(JSON.stringify(schema)) <= MAX_BYTES && jsonDepth(schema) <= MAX_DEPTH;
  return small ? undefined : `has at most ${MAX_BYTES} bytes and ${MAX_DEPTH} levels.`;
}

function draftProblem({ $schema }: JsonObject): string | undefined {
  const known = $schema === undefined || $schema === 'https://json-schema.org/draft/2020-12/schema';
  return known ? undefined : 'is JSON Schema draft 2020-12; other drafts are not read.';
}

function formProblem(schema: JsonObject): string | undefined {
  if (ajv.validateSchema(schema) === true) {
    return undefined;
  }
  const [first] = ajv.errors ?? [];
  return `is no JSON Schema: ${first?.instancePath ?? ''} ${first?.message ?? ''}`;
}

/** Every subschema, the root included. */
function partsOf(root: JsonObject): JsonObject[] {
  const found: JsonObject[] = [];
  const open: unknown[] = [root];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (Array.isArray(value)) {
      open.push(...value);
    } else if (typeof value === 'object' && value !== null) {
      const part = value as JsonObject;
      found.push(part);
      for (const [key, member] of Object.entries(part).filter(([key]) => !DATA.has(key))) {
        const named = NAMED.has(key) && typeof member === 'object' && member !== null;
        open.push(...(named ? Object.values(member) : [member]));
      }
    }
  }
  return found;
}

function checkPart(part: JsonObject, root: JsonObject, what: string, values: Values): void {
  for (const keyword of REFERENCES) {
    const reference = part[keyword];
    if (typeof reference === 'string' && !resolves(reference, root)) {
      values.error(
        'INVALID_SCHEMA',
        `${what}: ${keyword} "${reference.slice(0, 80)}" leads nowhere inside of it.`,
      );
    }
  }
  if (part !== root && part.$id !== undefined) {
    values.error('INVALID_SCHEMA', `${what}: only the whole schema may have an $id.`);
  }
  const patterns = [part.pattern, ...Object.keys((part.patternProperties as JsonObject | undefined) ?? {})];
  patterns
    .filter((pattern) => typeof pattern === 'string')
    .forEach((pattern) => checkPattern(pattern, what, values));
}

function checkPattern(pattern: string, what: string, values: Values): void {
  try {
    RE2JS.compile(pattern);
  } catch {
    values.error(
      'INVALID_SCHEMA',
      `${what}: the pattern "${pattern.slice(0, 80)}" is no RE2 expression (no look-around, no back-references).`,
    );
  }
}

/** RFC 6901 in a URI fragment; anchors are not followed. */
function resolves(reference: string, root: JsonObject): boolean {
  if (reference !== '#' && !reference.startsWith('#/')) {
    return false;
  }
  let node: unknown = root;
  for (const part of reference
    .slice(2)
    .split('/')
    .filter((_, index) => reference !== '#' || index < 0)) {
    const name = decode(part);
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, name)) {
      return false;
    }
    node = (node as JsonObject)[name];
  }
  return (typeof node === 'object' && node !== null) || typeof node === 'boolean';
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return part;
  }
}
