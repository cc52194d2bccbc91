import * as fc from 'fast-check';
import type { Arbitrary } from 'fast-check';

/** The part of JSON Schema that the OpenAPI document uses. */
export interface Schema {
  $ref?: string;
  allOf?: Schema[];
  type?: string;
  format?: string;
  enum?: unknown[];
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
}

/** Addresses that are refused or blocked immediately, so that no test waits for external hosts. */
const URLS = [
  'http://127.0.0.1:1/mcp',
  'https://127.0.0.1:1/mcp?key=value',
  'http://10.0.0.1/mcp',
  'http://169.254.169.254/latest/meta-data/',
  'http://[::1]:1/',
  'http://2130706433:1/',
];
/** Values that commonly break programs. None of them is a host name. */
const NASTY: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  0.1,
  Number.MAX_SAFE_INTEGER,
  '',
  ' ',
  '\0',
  '\ud800',
  '\u202e',
  '💥'.repeat(300),
  'a'.repeat(5_000),
  "' OR 1=1 --",
  '${7*7}',
  '../../etc/passwd',
  '%00',
  'http://',
  'javascript:alert(1)',
  [],
  [[[[]]]],
  {},
  { constructor: { prototype: { polluted: true } } },
  { toString: 1, length: -1 },
];
const TEXT_LENGTH = 300;

/** Picks a value that commonly breaks programs. */
export const nasty: Arbitrary<unknown> = fc.constantFrom(...NASTY);

/**
 * Returns values that a schema allows.
 * @param resolve follows a `$ref` of the document
 */
export function valid(schema: Schema, resolve: (ref: string) => Schema): Arbitrary<unknown> {
  if (schema.$ref !== undefined) {
    return valid(resolve(schema.$ref), resolve);
  }
  if (schema.allOf?.[0] !== undefined) {
    return valid(schema.allOf[0], resolve);
  }
  if (schema.enum !== undefined) {
    return fc.constantFrom(...schema.enum);
  }
  switch (schema.type) {
    case 'object':
      return validObject(schema, resolve);
    case 'array':
      return fc.array(valid(schema.items ?? {}, resolve), { maxLength: 5 });
    case 'string':
      return validText(schema);
    case 'integer':
    case 'number':
      return fc.integer({ min: schema.minimum ?? 0, max: schema.maximum ?? 1_000 });
    case 'boolean':
      return fc.boolean();
    default:
      return nasty;
  }
}

/** Returns values that a schema allows, most of them invalidated in one place. */
export function mutated(values: Arbitrary<unknown>): Arbitrary<unknown> {
  return fc.oneof(
    { weight: 2, arbitrary: values },
    { weight: 6, arbitrary: fc.tuple(values, fc.nat(), nasty, fc.constantFrom(...MUTATIONS)).map(mutate) },
    { weight: 1, arbitrary: nasty },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 4 }) },
  );
}

const MUTATIONS = ['drop', 'replace', 'add'] as const;

function mutate([value, position, other, how]: [
  unknown,
  number,
  unknown,
  (typeof MUTATIONS)[number],
]): unknown {
  const copy = structuredClone(value);
  const objects = objectsIn(copy);
  const target = objects[position % Math.max(1, objects.length)];
  if (target === undefined) {
    return other;
  }
  const names = Object.keys(target);
  const name = names[position % Math.max(1, names.length)] ?? 'unknown';
  if (how === 'drop') {
    delete target[name];
  } else {
    target[how === 'add' ? `${name}x` : name] = other;
  }
  return copy;
}

function objectsIn(value: unknown): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) {
    return [];
  }
  return [value as Record<string, unknown>, ...Object.values(value).flatMap(objectsIn)];
}

function validObject(schema: Schema, resolve: (ref: string) => Schema): Arbitrary<unknown> {
  const members = Object.entries(schema.properties ?? {}).map(
    ([name, member]) => [name, valid(member, resolve)] as const,
  );
  return fc.record(Object.fromEntries(members), { requiredKeys: schema.required ?? [] });
}

function validText({ format, pattern, minLength = 0, maxLength = TEXT_LENGTH }: Schema): Arbitrary<string> {
  const fits = (text: string): boolean => text.length >= minLength && text.length <= maxLength;
  if (format === 'uri') {
    return fc.constantFrom(...URLS);
  }
  if (pattern !== undefined) {
    return fc.stringMatching(new RegExp(pattern)).filter(fits);
  }
  return fc.string({ minLength, maxLength: Math.min(maxLength, TEXT_LENGTH), unit: 'grapheme' }).filter(fits);
}
