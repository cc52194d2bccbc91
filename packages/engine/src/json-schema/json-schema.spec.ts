import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../json/json.js';
import { SchemaSyntaxError, SchemaTooCostlyError } from './json-schema.types.js';
import { compileSchema } from './json-schema.js';

const ajv = new Ajv2020({ strict: false, allErrors: true });
(addFormats as unknown as (ajv: Ajv2020) => void)(ajv);

const VALUES: unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  0.3,
  7,
  '',
  'a',
  'abc',
  '😀😀',
  'jane@example.com',
  '2026-02-28',
  '2026-02-30',
  '2026-02-28T10:20:30.123Z',
  '10:20:30Z',
  '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10',
  'https://example.com/a?b',
  '127.0.0.1',
  '::1',
  [],
  [1],
  [1, 1],
  [1, 2, 3],
  ['a', 1],
  [
    { a: 1, b: 2 },
    { b: 2, a: 1 },
  ],
  {},
  { a: 1 },
  { a: 'x', b: 2 },
  { a: { b: { c: 1 } } },
  { xy: 1, x: 'no' },
  { kind: 'dog', bark: true },
  { kind: 'cat' },
];

const SCHEMAS: JsonObject[] = [
  { type: 'integer' },
  { type: ['string', 'null'] },
  { enum: [1, 'a', { a: 1 }, [1]] },
  { const: { a: 1 } },
  { minimum: 0, exclusiveMaximum: 7 },
  { exclusiveMinimum: 0, maximum: 7 },
  { multipleOf: 0.5 },
  { minLength: 1, maxLength: 2 },
  { pattern: '^a.*c$' },
  ...['date', 'date-time', 'time', 'uuid', 'email', 'uri', 'ipv4', 'ipv6'].map((format) => ({ format })),
  { required: ['a', 'b'] },
  { properties: { a: { type: 'number' } }, additionalProperties: false },
  { properties: { a: { properties: { b: { required: ['d'] } } } } },
  { patternProperties: { '^x': { type: 'number' } }, additionalProperties: { type: 'string' } },
  { propertyNames: { maxLength: 1 } },
  { minProperties: 1, maxProperties: 1 },
  { dependentRequired: { a: ['b'] } },
  { dependentSchemas: { a: { required: ['b'] } } },
  { prefixItems: [{ type: 'string' }], items: { type: 'number' } },
  { items: { type: 'number' }, minItems: 1, maxItems: 2 },
  { uniqueItems: true },
  { contains: { type: 'number' }, minContains: 2, maxContains: 2 },
  { contains: { const: 1 } },
  { allOf: [{ type: 'object' }, { required: ['a'] }] },
  { anyOf: [{ type: 'string' }, { required: ['a'] }] },
  { oneOf: [{ type: 'integer' }, { type: 'number' }] },
  { not: { type: 'string' } },
  JSON.parse(
    '{"if":{"properties":{"kind":{"const":"dog"}},"required":["kind"]},' +
      '"then":{"required":["bark"]},"else":{"not":{"required":["bark"]}}}',
  ) as JsonObject,
  { $defs: { tree: { properties: { a: { $ref: '#/$defs/tree' } }, required: ['a'] } }, $ref: '#/$defs/tree' },
  { properties: { a: false } },
];

describe('compileSchema', () => {
  it.each(SCHEMAS.map((schema) => [JSON.stringify(schema), schema] as const))(
    'agrees with Ajv: %s',
    (_name, schema) => {
      const validate = ajv.compile(schema);
      const compiled = compileSchema(schema);
      const ours = VALUES.map((value) => [value, compiled.check(value).length === 0]);
      expect(ours).toEqual(VALUES.map((value) => [value, validate(value)]));
    },
  );

  it('reports the field and rule of each fault', () => {
    const schema = compileSchema({
      type: 'object',
      required: ['name', 'age'],
      properties: {
        age: { type: 'integer', minimum: 18 },
        addresses: { items: { required: ['city'], properties: { zip: { pattern: '^\\d{5}$' } } } },
      },
    });
    expect(schema.check({ age: 17, addresses: [{ city: 'x' }, { zip: 'no' }] })).toEqual([
      { field: 'name', rule: 'is required' },
      { field: 'age', rule: 'must be at least 18' },
      { field: 'addresses[1].city', rule: 'is required' },
      { field: 'addresses[1].zip', rule: 'must match the required pattern' },
    ]);
  });

  it.each([
    [{ unevaluatedProperties: false }, '#/unevaluatedProperties'],
    [{ properties: { a: { $dynamicRef: '#x' } } }, '#/properties/a/$dynamicRef'],
    [{ properties: { a: { minLenght: 1 } } }, 'minLenght is not supported. Did you mean "minLength"?'],
    [{ desciption: 'a' }, 'desciption is not supported. Did you mean "description"?'],
    [{ id: 'a' }, 'id is not supported. Did you mean "$id"?'],
    [{ $ref: 'https://example.com/schema' }, 'does not resolve'],
    [{ $ref: '#/$defs/none' }, 'does not resolve'],
    [{ type: 'text' }, '#/type must be one or more of'],
    [{ type: { toString: 1, valueOf: 1 } }, '#/type must be one or more of'],
    [{ required: 'a' }, '#/required must be a list of strings'],
    [{ minLength: -1 }, '#/minLength must be a whole number'],
    [{ properties: { a: 7 } }, '#/properties/a must be a schema'],
    [{ pattern: '(?=a)' }, 'is not an RE2 pattern'],
    [{ pattern: '(' }, 'is not an RE2 pattern'],
    [{ patternProperties: { '(': true } }, 'is not an RE2 pattern'],
    [{ pattern: '(\\pL?){999}'.repeat(5_000) }, 'are too large in total'],
    [{ pattern: `(?i)${'[\\x{100}-\\x{1E942}]'.repeat(9)}` }, 'are too large in total'],
    [
      {
        properties: Object.fromEntries(
          Array.from({ length: 500 }, (_, at) => [`p${at}`, { pattern: `a(b?){${at}}` }]),
        ),
      },
      'are too large in total',
    ],
    [{ multipleOf: 0 }, 'must be a number above 0'],
    [{ description: 'x'.repeat(300_000) }, 'levels and'],
  ] as [JsonObject, string][])('rejects %j', (schema, sentence) => {
    expect(() => compileSchema(schema)).toThrow(SchemaSyntaxError);
    expect(() => compileSchema(schema)).toThrow(sentence);
  });

  it.each([
    ['refers to itself endlessly', { allOf: [{ $ref: '#' }] }, 1],
    [
      'doubles with each definition',
      {
        $defs: Object.fromEntries(
          Array.from({ length: 40 }, (_, index) => [
            `d${index}`,
            index === 39
              ? { type: 'number' }
              : { allOf: [{ $ref: `#/$defs/d${index + 1}` }, { $ref: `#/$defs/d${index + 1}` }] },
          ]),
        ),
        $ref: '#/$defs/d0',
      },
      1,
    ],
    ['puts a pattern into many states', { pattern: '[ab]*a[ab]{900}c$' }, 'ab'.repeat(8_000)],
    ['compares every pair', { uniqueItems: true }, Array.from({ length: 50_000 }, (_, index) => index)],
  ] as [string, JsonObject, unknown][])('gives up a check that %s', (_name, schema, value) => {
    const compiled = compileSchema(schema);
    expect(() => compiled.check(value)).toThrow(SchemaTooCostlyError);
  });

  it('compares decimal fractions as written', () => {
    expect(compileSchema({ multipleOf: 0.1 }).check(0.3)).toEqual([]);
    expect(compileSchema({ multipleOf: 0.1 }).check(0.35)).toHaveLength(1);
  });

  it('does not slow down on patterns that backtrack in other engines', () => {
    const schema = compileSchema({ pattern: '^(a+)+$' });
    expect(schema.check(`${'a'.repeat(50_000)}!`)).toHaveLength(1);
  });

  it('reports a bounded number of faults', () => {
    const schema = compileSchema({ items: { type: 'string' } });
    expect(schema.check(Array.from({ length: 10_000 }, () => 1))).toHaveLength(100);
  });
});

const DRAFT_7 = 'http://json-schema.org/draft-07/schema#';
const ID = 'https://tools.example.com/args.json';
const SHORT = { type: 'string', maxLength: 1 };

describe('a foreign schema', () => {
  it.each<[string, JsonObject, unknown]>([
    ['treats format as an annotation', { format: 'date-time' }, '2026-01-01T10:00:00'],
    [
      'ignores siblings of $ref in draft-07',
      { $schema: DRAFT_7, definitions: { any: {} }, items: { $ref: '#/definitions/any', ...SHORT } },
      ['long'],
    ],
    [
      'ignores siblings of $ref in draft-04',
      {
        $schema: 'http://json-schema.org/draft-04/schema#',
        definitions: { any: {} },
        $ref: '#/definitions/any',
        type: 'array',
      },
      {},
    ],
    [
      'ignores keywords newer than its draft',
      { $schema: DRAFT_7, dependentRequired: { a: ['b'] }, prefixItems: [SHORT] },
      { a: 1 },
    ],
    [
      'ignores conditions before draft-07',
      {
        $schema: 'http://json-schema.org/draft-06/schema',
        ...(JSON.parse('{"if":{},"then":false}') as JsonObject),
      },
      1,
    ],
  ])('%s', (_what, schema, value) => {
    expect(compileSchema(schema, 'foreign').check(value)).toEqual([]);
    // Our own schemas always follow 2020-12 and assert formats.
    expect(compileSchema(schema).check(value)).not.toEqual([]);
  });

  it.each<[string, JsonObject, unknown]>([
    ['applies siblings of $ref', { $defs: { any: {} }, items: { $ref: '#/$defs/any', ...SHORT } }, ['long']],
    [
      'applies siblings of $ref in 2019-09',
      {
        $schema: 'https://json-schema.org/draft/2019-09/schema',
        $defs: { any: {} },
        items: { $ref: '#/$defs/any', ...SHORT },
      },
      ['long'],
    ],
    [
      'applies the target of $ref in draft-07',
      { $schema: DRAFT_7, definitions: { short: SHORT }, items: { $ref: '#/definitions/short' } },
      ['long'],
    ],
    [
      'resolves its own $id locally',
      { $id: ID, $defs: { short: SHORT }, items: { $ref: `${ID}#/$defs/short` } },
      ['long'],
    ],
    [
      'resolves a name relative to its $id locally',
      { $id: ID, items: { $ref: 'args.json#/$defs/s' }, $defs: { s: SHORT } },
      ['long'],
    ],
    [
      'resolves a nested $id locally',
      { items: { $ref: 'short' }, $defs: { s: { $id: 'short', ...SHORT } } },
      ['long'],
    ],
    [
      'resolves a pointer relative to the enclosing $id',
      { $defs: { x: { $id: 'x', $defs: { s: SHORT }, items: { $ref: '#/$defs/s' } }, s: {} }, $ref: 'x' },
      ['long'],
    ],
    [
      'falls back to a pointer into the whole document',
      { $defs: { x: { $id: 'x', items: { $ref: '#/$defs/s' } }, s: SHORT }, $ref: 'x' },
      ['long'],
    ],
  ])('%s', (_what, schema, value) => {
    expect(compileSchema(schema, 'foreign').check(value)).toHaveLength(1);
  });
});
