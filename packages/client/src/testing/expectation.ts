import { AssertionError } from 'node:assert';
import { inspect, isDeepStrictEqual } from 'node:util';
import { ServiceError } from '../errors.js';
import { isObject } from './json.js';

/**
 * Whether a value is what is expected: objects may have members beside the expected ones, everything else is equal.
 * A regular expression is met by a text that it matches.
 */
export function meets(actual: unknown, expected: unknown): boolean {
  if (expected instanceof RegExp) {
    return typeof actual === 'string' && expected.test(actual);
  }
  if (isObject(expected)) {
    return isObject(actual) && Object.entries(expected).every(([name, value]) => meets(actual[name], value));
  }
  if (Array.isArray(expected)) {
    return (
      Array.isArray(actual) &&
      actual.length === expected.length &&
      expected.every((value, index) => meets(actual[index], value))
    );
  }
  return isDeepStrictEqual(actual, expected);
}

/** What a runner shows of an expectation that is not met: both sides, and lines that help to see why. */
export function notMet(
  message: string,
  { actual, expected, lines = [] }: { actual: unknown; expected: unknown; lines?: string[] },
): AssertionError {
  const text = [message, ...lines.map((line) => `  ${line}`)].join('\n');
  return new AssertionError({ message: text, actual, expected, operator: 'meets' });
}

/** A value in a message. */
export function shown(value: unknown): string {
  return inspect(value, { depth: 6, breakLength: 100, maxStringLength: 500, maxArrayLength: 20 });
}

/**
 * What a call of the service gives. Where it is refused, the message of the error holds the details too: a runner shows nothing else.
 * @throws ServiceError
 */
export async function explained<Result>(call: Promise<Result>): Promise<Result> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ServiceError) {
      const { status, message, details } = error;
      error.message = `${status}: ${message}${details === undefined ? '' : ` (${details})`}`;
    }
    throw error;
  }
}
