import { RE2JS } from '@bufbuild/re2';
import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '#engine/json';
import { runWithoutYielding } from '#engine/support';
import { deepMerge, removePath, setPath, type ChargeCopies } from '#engine/paths';
import { compileExpression, compileJsonTemplate, MeteredPatterns, WorkBudget } from '#engine/expressions';
import { readSchema, SCHEMA_LIMITS, SchemaRun } from '#engine/json-schema';
import {
  data,
  expression,
  many,
  named,
  pattern,
  randomText,
  schema,
  text,
  value,
} from '../../../../packages/engine/test/expressions/charged-work.js';

/** Maximum ratio of the time per charged step to that of a calibrated step: time must not grow faster than the charge. */
const FACTOR = 10;
/** Microseconds below which a measurement is dominated by compilation and garbage collection. */
const NOISE = 20_000;
const TRIES = 6;
const BUDGET = 100_000;

const WIDE = named(20_000, Number);
const LONG = many(50_000, Number);
const OBJECTS = many(30_000, () => ({}));

/** Microseconds of processor time, and the steps charged. */
interface Measured {
  readonly time: number;
  readonly steps: number;
}

/**
 * Measures some work.
 * @param work returns the work and its charge; an error, such as a spent budget, ends it normally
 */
function measured(limit: number, work: () => { spent: () => number; run: () => unknown }): Measured {
  const { spent, run } = work();
  const start = process.cpuUsage();
  try {
    run();
  } catch {
    // The time until the error counts.
  }
  const { user, system } = process.cpuUsage(start);
  return { time: user + system, steps: Math.min(spent(), limit) };
}

function ofSchema(schema: JsonObject, value: unknown): Measured {
  return measured(SCHEMA_LIMITS.steps, () => {
    const run = new SchemaRun(readSchema(schema));
    return { spent: () => run.spent, run: () => runWithoutYielding(run.faultSteps(value)) };
  });
}

function ofExpression(source: string, data: JsonObject): Measured {
  return measured(BUDGET, () => {
    const expression = compileExpression(source);
    const budget = new WorkBudget(BUDGET);
    return { spent: () => budget.spent, run: () => expression.evaluate(data, budget) };
  });
}

function ofPattern(pattern: string, text: string): Measured {
  return measured(BUDGET, () => {
    const budget = new WorkBudget(BUDGET);
    const patterns = new MeteredPatterns();
    const charge = (steps: number): void => budget.charge(steps);
    const run = (): unknown => {
      patterns.compile(pattern, charge);
      return patterns.test(pattern, text, charge);
    };
    return { spent: () => budget.spent, run };
  });
}

/** Measures a template with the values of its references, as one part of a process step. */
function ofTemplate(source: JsonValue, data: JsonObject): Measured {
  const template = compileJsonTemplate(source);
  return measured(BUDGET, () => {
    const budget = new WorkBudget(BUDGET);
    return { spent: () => budget.spent, run: () => template.render(data, budget) };
  });
}

/** Measures copies of process data, charged like process steps. */
function ofCopy(copy: (pay: ChargeCopies) => unknown): Measured {
  return measured(BUDGET, () => {
    const budget = new WorkBudget(BUDGET);
    const pay: ChargeCopies = (members) => budget.charge(members);
    const run = (): void => {
      for (;;) {
        copy(pay);
      }
    };
    return { spent: () => budget.spent, run };
  });
}

/** Returns the microseconds per step of ordinary work, on this machine at its current load. */
function unitOf(measure: () => Measured): number {
  // Skip the first rounds, which V8 has not compiled yet.
  const units = Array.from({ length: 15 }, measure).map(({ time, steps }) => time / steps);
  return units.slice(5).toSorted((one, other) => one - other)[5] ?? 0;
}

/** Checks a measurement against the unit. Takes the best of several tries, since other load evicts caches. */
function expectCharged(name: string, measure: () => Measured, unit: () => number): void {
  let worst = '';
  for (let round = 0; round < TRIES; round += 1) {
    const { time, steps } = measure();
    if (time <= Math.max(NOISE, steps * unit() * FACTOR)) {
      return;
    }
    worst = `${time} us for ${Math.round(steps)} steps of ${unit().toFixed(3)} us`;
  }
  expect.fail(`${name.slice(0, 300)} took ${worst}`);
}

describe('charges are proportional to the time', () => {
  const unit = { schema: 0, expression: 0, pattern: 0 };

  beforeAll(() => {
    const people = many(3_000, (index) => ({ name: `n${index}`, age: index, tags: ['a', 'b'] }));
    const person = {
      type: 'object',
      required: ['name'],
      properties: {
        name: { type: 'string', maxLength: 100 },
        age: { minimum: 0 },
        tags: { items: { type: 'string' } },
      },
    };
    unit.schema = unitOf(() => ofSchema({ items: person }, people));
    unit.expression = unitOf(() =>
      ofExpression('l.all(y, y.age >= 0.0 && y.name != "a")', { l: people.slice(0, 1_000) }),
    );
    unit.pattern = unitOf(() => ofPattern('[ab]*a[ab]{14}c', 'abbabaaabbab'.repeat(2_000)));
  });

  it.each<[string, JsonObject, unknown]>([
    [
      'names missing in all elements',
      { items: { properties: named(1_000, () => true) } },
      many(86_000, () => ({})),
    ],
    ['elements of the wrong type', { items: { type: 'object', required: ['a'] } }, many(86_000, () => [])],
    ['names counted repeatedly', { allOf: many(5_000, () => ({ minProperties: 1 })) }, named(10_000, Number)],
    ['many types', { items: { type: many(20_000, () => 'null') } }, many(50_000, () => 1)],
    [
      'a long reference',
      { $defs: { ['x'.repeat(30_000)]: true }, items: { $ref: `#/$defs/${'x'.repeat(30_000)}` } },
      many(86_000, () => 1),
    ],
    [
      'an automaton with too many states',
      { pattern: '[ab]*a[ab]{14}([ab]?){40}c' },
      randomText('ab', 12_000, 1),
    ],
    ['places in a long text', { pattern: '\\b(\\w+\\b ?){90}!' }, 'ab '.repeat(20_000)],
  ])('of a schema with %s', (name, rules, input) => {
    expectCharged(
      name,
      () => ofSchema(rules, input),
      () => unit.schema,
    );
  });

  it.each<[string, string, JsonObject]>([
    [
      'classes of Unicode in a loop',
      `l.all(x, 'a'.matches(x + '(?i)[${'\\\\pL\\\\pN'.repeat(3)}]'))`,
      { l: many(500, (index) => 'x'.repeat(index)) },
    ],
    ['a wide case-insensitive range', "'a'.matches('(?i)[\\\\x{100}-\\\\x{1E942}]')", {}],
    ['many classes of Unicode', `'a'.matches('(?i)[${'\\\\pL\\\\pN'.repeat(9)}]')`, {}],
    [
      'a number of many digits',
      'l.all(x, int(s) > 0 || true)',
      { l: many(500, Number), s: '9'.repeat(20_000) },
    ],
    [
      'an automaton with too many states',
      "s.matches('[ab]*a[ab]{14}([ab]?){40}c')",
      { s: randomText('ab', 12_000, 1) },
    ],
  ])('of an expression with %s', (name, source, input) => {
    expectCharged(
      name,
      () => ofExpression(source, input),
      () => unit.expression,
    );
  });

  it('for schemas and values', () => {
    fc.assert(
      fc.property(schema, value, (rules, input) => {
        const whole = { $defs: { d: { type: 'number' } }, ...rules };
        try {
          readSchema(whole);
        } catch {
          fc.pre(false);
        }
        expectCharged(
          JSON.stringify(rules).slice(0, 300),
          () => ofSchema(whole, input),
          () => unit.schema,
        );
      }),
      { numRuns: 60, seed: 7, endOnFailure: true },
    );
  });

  it('for expressions and data', () => {
    fc.assert(
      fc.property(expression, data, (source, input) => {
        expectCharged(
          source,
          () => ofExpression(source, input),
          () => unit.expression,
        );
      }),
      { numRuns: 150, seed: 7, endOnFailure: true },
    );
  });

  it('for patterns and texts', () => {
    fc.assert(
      fc.property(pattern, text, (source, subject) => {
        expectCharged(
          source,
          () => ofPattern(source, subject),
          () => unit.pattern,
        );
      }),
      { numRuns: 200, seed: 7, endOnFailure: true },
    );
  });

  it('and patterns match like the library', () => {
    fc.assert(
      fc.property(
        pattern,
        fc.string({ unit: fc.constantFrom('a', 'b', 'é', '1', ' ', 'K'), maxLength: 12 }),
        (source, subject) => {
          const patterns = new MeteredPatterns();
          const budget = new WorkBudget(10_000);
          let expected: boolean | undefined;
          try {
            patterns.compile(source, (steps) => budget.charge(steps));
            expected = RE2JS.compile(source).test(subject);
          } catch {
            fc.pre(false);
          }
          expect(patterns.test(source, subject, () => undefined)).toBe(expected);
        },
      ),
      { numRuns: 300, seed: 7 },
    );
  });

  it.each<[string, JsonValue, JsonObject]>([
    ['constants', many(40_000, () => ''), {}],
    ['empty lists', many(40_000, () => []), {}],
    ['names of members', named(40_000, () => true) as JsonValue, {}],
    ['references to nothing', many(1_000, (index) => `\${a${index}}`), {}],
    ['references to large values', many(1_000, () => '${a}'), { a: named(500, Number) }],
    ['references in texts', ['${a}'.repeat(1_000)], { a: many(500, () => ({})) }],
    ['expressions', many(200, () => '${a.size() + 1}'), { a: many(500, Number) }],
  ])('of a template with %s', (name, source, input) => {
    expectCharged(
      name,
      () => ofTemplate(source, input),
      () => unit.expression,
    );
  });

  it.each<[string, (pay: ChargeCopies) => unknown]>([
    ['a value set in a wide object', (pay) => setPath({ a: WIDE }, 'a.b', 1, pay)],
    ['a value set in a long list', (pay) => setPath({ a: LONG }, 'a[5]', 1, pay)],
    ['a value removed from a wide object', (pay) => removePath({ a: WIDE }, 'a.n1', pay)],
    ['a small patch of a wide object', (pay) => deepMerge({ a: WIDE }, { a: { b: 1 } }, pay)],
    ['a wide patch', (pay) => deepMerge({}, { a: WIDE }, pay)],
    ['a long patch', (pay) => deepMerge({}, { a: LONG }, pay)],
    ['a patch of many objects', (pay) => deepMerge({}, { a: OBJECTS }, pay)],
  ])('of data with %s', (name, copy) => {
    expectCharged(
      name,
      () => ofCopy(copy),
      () => unit.expression,
    );
  });
});
