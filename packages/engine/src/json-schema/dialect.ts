import type { JsonObject } from '../json/json.js';

/** A draft of JSON Schema by its number or year. */
export type Draft = 4 | 6 | 7 | 2019 | 2020;

export const DRAFT_7 = 7;
const CURRENT = 2020;

/** First draft that has a keyword; keywords of every draft are not listed. */
const SINCE: Readonly<Record<string, Draft>> = {
  const: 6,
  contains: 6,
  propertyNames: 6,
  if: 7,
  dependentRequired: 2019,
  dependentSchemas: 2019,
  minContains: 2019,
  maxContains: 2019,
  prefixItems: 2020,
};

/** Author of a schema. `foreign` schemas are published by a server: they follow the draft they declare, and `format` is an annotation. */
export type SchemaOrigin = 'own' | 'foreign';

/** Returns the draft of a schema: 2020-12 for our own and for schemas that declare none (MCP, "JSON Schema Usage"). */
export function draftOf({ $schema }: JsonObject, origin: SchemaOrigin): Draft {
  const declared = origin === 'foreign' && typeof $schema === 'string' ? $schema : '';
  const [, number] = /\bdraft-0?([3467])\b/.exec(declared) ?? [];
  if (number === '6' || number === '7') {
    return number === '6' ? 6 : DRAFT_7;
  }
  if (number !== undefined) {
    return 4;
  }
  return declared.includes('2019-09') ? 2019 : CURRENT;
}

/** Whether a keyword of a schema asserts something about values. */
export function isAsserted(keyword: string, schema: JsonObject, draft: Draft, origin: SchemaOrigin): boolean {
  const isSiblingOfReference = draft <= DRAFT_7 && keyword !== '$ref' && typeof schema['$ref'] === 'string';
  // JSON Schema 2020-12 Validation, section 7.2.1.
  const isAnnotation = keyword === 'format' && origin === 'foreign';
  return !isSiblingOfReference && !isAnnotation && (SINCE[keyword] ?? 0) <= draft;
}
