import { RE2JS } from '@bufbuild/re2';
import { isJsonObject, jsonDepth, jsonSize, type JsonObject } from '../../common/json.js';
import { SchemaSyntaxError } from './json-schema.errors.js';
import { SCHEMA_LIMITS, type CompiledSchema, type SchemaFault } from './json-schema.types.js';
import { KEYWORDS } from './keywords.js';
import { resolvePointer } from './json-pointer.js';
import type { Keyword } from './keyword.types.js';
import { SchemaRun } from './schema-run.js';

/** Keywords that say nothing about values, or nothing by themselves. */
const SILENT: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  '$comment',
  '$defs',
  'definitions',
  'title',
  'description',
  'default',
  'deprecated',
  'readOnly',
  'writeOnly',
  'examples',
  'example',
  'then',
  'else',
  'contentEncoding',
  'contentMediaType',
  'contentSchema',
]);

/** Keywords of which each member is a schema, and those that are a list of them. */
const MAPS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
]);
const LISTS: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const SINGLES: ReadonlySet<string> = new Set([
  'additionalProperties',
  'propertyNames',
  'items',
  'contains',
  'not',
  'if',
  'then',
  'else',
]);

/**
 * Prepares a JSON Schema (draft 2020-12) for checks. Nothing is generated and nothing fetched: the schema is walked through,
 * references lead to places in the same document, patterns are those of RE2, which need no backtracking, and the work of a
 * check is bounded.
 * @throws SchemaSyntaxError when a keyword is unknown or its value of the wrong kind, a reference leads nowhere, or the
 * schema is too large
 */
export function compileSchema(schema: JsonObject): CompiledSchema {
  if (jsonDepth(schema) > SCHEMA_LIMITS.depth || jsonSize(schema) > SCHEMA_LIMITS.bytes) {
    throw new SchemaSyntaxError(
      `A schema has at most ${SCHEMA_LIMITS.depth} levels and ${SCHEMA_LIMITS.bytes} bytes.`,
    );
  }
  const patterns = new Map<string, RE2JS>();
  verify(schema, '#', schema, patterns);
  return {
    check: (value: unknown): SchemaFault[] => new SchemaRun(schema, patterns).faultsOf(value),
  };
}

function verify(schema: unknown, at: string, root: JsonObject, patterns: Map<string, RE2JS>): void {
  if (typeof schema === 'boolean') {
    return;
  }
  if (!isJsonObject(schema)) {
    throw new SchemaSyntaxError(`${at} must be a schema: an object, true or false.`);
  }
  for (const [name, value] of Object.entries(schema)) {
    verifyKeyword(name, value, `${at}/${name}`, root);
    verifyPatterns(name, value, `${at}/${name}`, patterns);
    for (const [step, child] of childrenOf(name, value, `${at}/${name}`)) {
      verify(child, step, root, patterns);
    }
  }
}

function verifyKeyword(name: string, value: unknown, at: string, root: JsonObject): void {
  const keyword: Keyword | undefined = Object.hasOwn(KEYWORDS, name) ? KEYWORDS[name] : undefined;
  if (keyword === undefined) {
    if (!SILENT.has(name)) {
      throw new SchemaSyntaxError(`${at}: the keyword ${name} is not supported.`);
    }
  } else if (!keyword.accepts(value)) {
    throw new SchemaSyntaxError(`${at} must be ${keyword.kind}.`);
  }
  if (name === '$ref' && resolvePointer(root, String(value)) === undefined) {
    throw new SchemaSyntaxError(`${at}: "${String(value)}" leads to no place in this schema.`);
  }
}

function verifyPatterns(name: string, value: unknown, at: string, patterns: Map<string, RE2JS>): void {
  const sources =
    name === 'pattern' ? [String(value)] : name === 'patternProperties' ? Object.keys(value as object) : [];
  for (const source of sources) {
    try {
      patterns.set(source, RE2JS.compile(source));
    } catch {
      throw new SchemaSyntaxError(`${at}: "${source.slice(0, 100)}" is not a pattern of RE2.`);
    }
  }
}

function childrenOf(name: string, value: unknown, at: string): [step: string, child: unknown][] {
  if (MAPS.has(name) && isJsonObject(value)) {
    return Object.entries(value).map(([member, child]) => [`${at}/${member}`, child]);
  }
  if (LISTS.has(name) && Array.isArray(value)) {
    return value.map((child, index) => [`${at}/${index}`, child]);
  }
  return SINGLES.has(name) ? [[at, value]] : [];
}
