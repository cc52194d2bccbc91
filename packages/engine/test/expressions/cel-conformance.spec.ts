import { getConformanceSuite, type IncrementalTestSuite } from '@bufbuild/cel-spec/testdata/tests.js';
import { describe, expect, it } from 'vitest';
import { compileExpression } from '../../src/expressions/expressions.js';
import { ExpressionError, ExpressionSyntaxError } from '../../src/expressions/expression.errors.js';
import { KNOWN_EXCEPTIONS } from './cel-exceptions.js';

type ConformanceTest = IncrementalTestSuite['tests'][number]['original'];
type Value = Extract<ConformanceTest['resultMatcher'], { case: 'value' }>['value'];

/** A case that uses only JSON. */
interface JsonCase {
  readonly name: string;
  readonly expr: string;
  readonly data: Record<string, unknown>;
  /** The value as JSON, or an error. */
  readonly expected: { readonly value: unknown } | 'error';
}

/** The suites of the language itself; the others are about message types, the type checker and extensions. */
const LANGUAGE: ReadonlySet<string> = new Set([
  'basic',
  'comparisons',
  'conversions',
  'fields',
  'fp_math',
  'integer_math',
  'lists',
  'logic',
  'macros',
  'namespace',
  'parse',
  'plumbing',
  'string',
  'timestamps',
]);
const MESSAGE_TYPES = /google\.protobuf|cel\.expr|TestAllTypes|NestedEnum|GlobalEnum|proto[23]/;

/** Marks a value that JSON cannot represent. */
const NOT_JSON = Symbol('not JSON');

/** Converts a value to JSON as the language definition specifies. */
function toJson(value: Value): unknown {
  const { kind } = value;
  switch (kind.case) {
    case 'nullValue':
      return null;
    case 'boolValue':
    case 'stringValue':
    case 'typeValue':
      return kind.value;
    case 'doubleValue':
      // JSON does not distinguish the two zeros.
      return Number.isFinite(kind.value) ? kind.value + 0 : NOT_JSON;
    case 'int64Value':
    case 'uint64Value':
      return Number.isSafeInteger(Number(kind.value)) ? Number(kind.value) : String(kind.value);
    case 'bytesValue':
      return Buffer.from(kind.value).toString('base64');
    case 'listValue': {
      const elements = kind.value.values.map(toJson);
      return elements.includes(NOT_JSON) ? NOT_JSON : elements;
    }
    case 'mapValue': {
      const entries = kind.value.entries.map(({ key, value }) => [
        key && toJson(key),
        value && toJson(value),
      ]);
      return entries.flat().includes(NOT_JSON) ? NOT_JSON : Object.fromEntries(entries);
    }
    default:
      return NOT_JSON;
  }
}

function dataOf(test: ConformanceTest): Record<string, unknown> | undefined {
  const data: Record<string, unknown> = {};
  for (const [name, { kind }] of Object.entries(test.bindings)) {
    // JSON has no bytes, so they would change the case.
    if (kind.case !== 'value' || kind.value.kind.case === 'bytesValue' || toJson(kind.value) === NOT_JSON) {
      return undefined;
    }
    data[name] = toJson(kind.value);
  }
  return data;
}

function expectedOf({ resultMatcher }: ConformanceTest): JsonCase['expected'] | undefined {
  if (resultMatcher.case === 'evalError') {
    return 'error';
  }
  if (resultMatcher.case === undefined) {
    return { value: true };
  }
  const value = resultMatcher.case === 'value' ? toJson(resultMatcher.value) : NOT_JSON;
  return value === NOT_JSON ? undefined : { value };
}

function jsonCases(suite: IncrementalTestSuite, path: readonly string[]): JsonCase[] {
  const own = suite.tests.flatMap(({ original }) => {
    const data = dataOf(original);
    const expected = expectedOf(original);
    const applies = original.container === '' && !MESSAGE_TYPES.test(original.expr);
    const name = [...path, original.name].join('/');
    return applies && data !== undefined && expected !== undefined
      ? [{ name, expr: original.expr, data, expected }]
      : [];
  });
  return [...own, ...suite.suites.flatMap((inner) => jsonCases(inner, [...path, inner.name]))];
}

/** Describes the difference from the expectation; undefined if there is none. */
function differenceOf({ expr, data, expected }: JsonCase): string | undefined {
  let value: unknown;
  try {
    value = compileExpression(expr).evaluate(data);
  } catch (error) {
    expect(error instanceof ExpressionError || error instanceof ExpressionSyntaxError, String(error)).toBe(
      true,
    );
    return expected === 'error' ? undefined : String(error);
  }
  const json = JSON.stringify(value);
  if (expected === 'error') {
    return `gives ${json} and not an error`;
  }
  const same = JSON.stringify(sorted(value)) === JSON.stringify(sorted(expected.value));
  return same ? undefined : `gives ${json} and not ${JSON.stringify(expected.value)}`;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(sorted);
  }
  return typeof value === 'object' && value !== null
    ? Object.entries(value)
        .map(([name, member]) => [name, sorted(member)])
        .toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1))
    : value;
}

const CASES = getConformanceSuite()
  .suites.filter(({ name }) => LANGUAGE.has(name))
  .flatMap((suite) => jsonCases(suite, [suite.name]));

const isException = (name: string): boolean =>
  KNOWN_EXCEPTIONS.some(({ cases }) => (cases instanceof RegExp ? cases.test(name) : cases.includes(name)));

describe('the conformance cases of CEL that apply to JSON', () => {
  it('have the expected number', () => {
    expect(CASES.length).toBeGreaterThan(1050);
    expect(new Set(CASES.map(({ name }) => name.split('/')[0]))).toEqual(LANGUAGE);
  });

  it('pass, except for the known exceptions', () => {
    const failures = CASES.filter(({ name }) => !isException(name)).flatMap((testCase) => {
      const difference = differenceOf(testCase);
      return difference === undefined ? [] : [`${testCase.name}: ${testCase.expr} ${difference}`];
    });
    expect(failures).toEqual([]);
  });

  it.each(KNOWN_EXCEPTIONS)('are excepted only where needed: $reason', ({ cases }) => {
    const excepted = CASES.filter(({ name }) =>
      cases instanceof RegExp ? cases.test(name) : cases.includes(name),
    );
    expect(excepted.length).toBe(cases instanceof RegExp ? excepted.length || 1 : cases.length);
    const fulfilled = excepted.filter((testCase) => differenceOf(testCase) === undefined);
    expect(fulfilled.map(({ name }) => name)).toEqual([]);
  });
});
