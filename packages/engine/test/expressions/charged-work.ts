import * as fc from 'fast-check';
import type { JsonObject } from '../../src/json/json.js';

/** Creates a list of `count` elements. */
export const many = <T>(count: number, of: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => of(index));
/** Creates an object of `count` members. */
export const named = (count: number, of: (index: number) => unknown, prefix = 'n'): JsonObject =>
  Object.fromEntries(many(count, (index) => [`${prefix}${index}`, of(index)]));
const size = fc.constantFrom(1, 3, 30, 1_000);

const PATTERN_PARTS = [
  'a',
  '.',
  '[ab]',
  '\\d',
  '\\pL',
  '\\p{Lu}',
  '\\PN',
  '(?i)',
  '(?i:b)',
  '[^\\pL\\pN]',
  '[\\x{100}-\\x{2000}]',
  '[a-fx]',
  '\\Qa[b\\E',
  '\\Q\\E',
  '^',
  '$',
  '\\b',
  '|',
  'é',
  '[[:alpha:]_]',
  '\\w+',
  '[ab]*a',
];
/** Patterns with all parts that have a cost. */
export const pattern = fc.letrec<{ part: string; whole: string }>((tie) => ({
  part: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...PATTERN_PARTS) },
    fc
      .tuple(
        tie('whole'),
        fc.constantFrom('', '?', '*', '+', '{2}', '{0,9}', '{14}', '{1,99}', '{999}', '(?i){30}'),
      )
      .map(([inner, times]) => `(${inner})${times}`),
  ),
  whole: fc.array(tie('part'), { minLength: 1, maxLength: 5 }).map((parts) => parts.join('')),
})).whole;
/** Texts, short and long. */
export const text = fc
  .tuple(
    fc.constantFrom('ab', 'aé', 'a b1', 'İK\u212a', 'x'),
    fc.constantFrom(1, 100, 5_000, 50_000),
    fc.nat(),
  )
  .map(([letters, length, seed]) => randomText(letters, length, seed));

/** Creates pseudo-random text from letters. */
export function randomText(letters: string, length: number, seed: number): string {
  let state = seed;
  return many(length, () => {
    state = (state * 69_069 + 12_345) % 2_147_483_648;
    return letters[(state >> 16) % letters.length];
  }).join('');
}

const leafSchema = fc.oneof(
  fc.constantFrom<JsonObject>(
    { type: 'string' },
    { type: many(1_000, () => 'null') },
    { minLength: 20_000, maxLength: 30_000 },
    { format: 'uri' },
    { format: 'date-time' },
    { multipleOf: 0.1, minimum: 1 },
    { const: named(50, (index) => index) },
    { uniqueItems: true },
    { minProperties: 1, maxProperties: 900 },
    { $ref: '#/$defs/d' },
  ),
  size.map((count) => ({ enum: many(count, (index) => 'x'.repeat(1_000) + index) })),
  size.map((count) => ({ required: many(count, (index) => `n${index}`) })),
  pattern.map((source) => ({ pattern: source })),
);
/** JSON Schemas with all keywords. */
export const schema = fc.letrec<{ one: JsonObject }>((tie) => ({
  one: fc.oneof(
    { maxDepth: 3 },
    leafSchema,
    fc
      .tuple(size, tie('one'))
      .map(([count, each]) => ({ properties: named(count, () => (count > 30 ? true : each)) })),
    fc
      .tuple(size, tie('one'))
      .map(([count, each]) => ({ dependentSchemas: named(count, () => (count > 30 ? true : each)) })),
    fc.tuple(size, size).map(([count, names]) => ({
      dependentRequired: named(count, () => many(Math.min(names, 30), (index) => `m${index}`)),
    })),
    fc.tuple(pattern, tie('one')).map(([source, each]) => ({ patternProperties: { [source]: each } })),
    fc.tuple(size, tie('one')).map(([count, each]) => ({
      properties: named(count, () => true),
      additionalProperties: each,
    })),
    tie('one').map((each) => ({ propertyNames: each })),
    tie('one').map((each) => ({ items: each })),
    tie('one').map((each) => ({ contains: each, minContains: 2 })),
    fc
      .tuple(fc.constantFrom('allOf', 'anyOf', 'oneOf', 'prefixItems'), size, tie('one'))
      .map(([name, count, each]) => ({
        [name]: many(Math.min(count, 10), () => each),
      })),
    // eslint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    fc.tuple(tie('one'), tie('one')).map(([one, other]) => ({ if: one, then: other, not: other })),
  ),
})).one;
const leaf: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    1,
    null,
    '',
    'x'.repeat(900),
    '2026-01-31T10:20:30Z',
    'http://x/y',
    'é'.repeat(25_000),
  ),
  size.map((count) => named(count, (index) => index)),
  size.map((count) => named(count, (index) => index, 'm')),
  text,
);
/** Values, small and large. */
export const value: fc.Arbitrary<unknown> = fc.oneof(
  leaf,
  fc.tuple(fc.constantFrom(10, 1_000, 40_000), leaf).map(([count, each]) => many(count, () => each)),
  fc
    .tuple(fc.constantFrom(10, 1_000, 40_000), fc.constantFrom([], {}))
    .map(([count, each]) => many(count, () => each)),
  fc.tuple(fc.constantFrom(3, 300), leaf).map(([count, each]) => named(count, () => many(30, () => each))),
);

const operand = fc.constantFrom(
  'x',
  's',
  'l',
  'o',
  'l[0]',
  'o.n1',
  'string(x)',
  'bytes(s)',
  'size(s)',
  'size(l)',
  'size(o)',
  '[x, l, o]',
  "{'a': x, 'b': o}",
  'double(string(x))',
  'int(digits)',
  'double(digits)',
  'string(double(x))',
  "timestamp('2026-01-31T10:20:30Z')",
  "duration('3600s')",
  "'a'",
  '1',
  'input',
  'l + l',
  's + s',
  'o == o',
);
const condition = fc.oneof(
  fc
    .tuple(operand, fc.constantFrom('==', '!=', '<', '>=', 'in', '+'), operand)
    .map(([one, sign, other]) =>
      sign === '+' ? `(${one} + ${other}) == ${one}` : `(${one}) ${sign} (${other})`,
    ),
  fc
    .tuple(operand, fc.constantFrom('contains', 'startsWith', 'endsWith'), operand)
    .map(([one, name, other]) => `string(${one}).${name}(string(${other}))`),
  fc
    .tuple(fc.constantFrom('s', 'string(x)', "'a'"), pattern)
    .map(([subject, source]) => `${subject}.matches(${JSON.stringify(source)})`),
  fc.constantFrom(
    "timestamp('2026-01-31T10:20:30Z').getHours('Asia/Tokyo') > 1",
    "timestamp('2026-01-31T10:20:30Z') + duration('1h') > timestamp('2026-01-31T10:20:30Z')",
    'type(x) == type(l)',
    'has(o.n1) && has(o.none)',
  ),
);
/** CEL over `data`. */
export const expression = fc.oneof(
  condition,
  condition.map((body) => `l.all(x, (${body}) || true)`),
  condition.map((body) => `l.exists(x, (${body}) && false)`),
  condition.map((body) => `l.map(x, ${body})`),
  condition.map((body) => `l.filter(y, l.all(x, (${body}) || true)).size() > 1`),
  operand.map((result) => `l.map(x, ${result})`),
);
/** Data for `expression`. */
export const data = fc.record({
  l: fc.tuple(fc.constantFrom(1, 100, 1_000), leaf).map(([count, each]) => many(count, () => each)),
  o: fc.oneof(
    size.map((count) => named(count, (index) => index)),
    size.map((count) => named(count, () => ({ a: 1 }))),
  ),
  s: text,
  x: fc.constantFrom<unknown>(1, 'a'),
  digits: fc.constantFrom('12', '9'.repeat(20_000)),
});
