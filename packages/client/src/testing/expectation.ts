import { AssertionError } from 'node:assert';
import { inspect, isDeepStrictEqual } from 'node:util';
import { ServiceError } from '../errors.js';
import { isObject } from './json.js';

/**
 * Whether a value matches an expectation. Objects may have additional members, regular expressions match strings, and everything else
 * must be equal.
 */
export function matches(actual: unknown, expected: unknown): boolean {
  if (expected instanceof RegExp) {
    return typeof actual === 'string' && expected.test(actual);
  }
  if (isObject(expected)) {
    return (
      isObject(actual) && Object.entries(expected).every(([name, value]) => matches(actual[name], value))
    );
  }
  if (Array.isArray(expected)) {
    return (
      Array.isArray(actual) &&
      actual.length === expected.length &&
      expected.every((value, index) => matches(actual[index], value))
    );
  }
  return isDeepStrictEqual(actual, expected);
}

/** Creates an assertion error with both sides and additional lines that help to find the cause. */
export function mismatch(
  message: string,
  { actual, expected, lines = [] }: { actual: unknown; expected: unknown; lines?: string[] },
): AssertionError {
  const text = [message, ...lines.map((line) => `  ${line}`)].join('\n');
  return new AssertionError({ message: text, actual, expected, operator: 'matches' });
}

/** Formats a value for a message. */
export function format(value: unknown): string {
  return inspect(value, { depth: 6, breakLength: 100, maxStringLength: 500, maxArrayLength: 20 });
}

/**
 * Adds the details to the message of a rejected call, because test runners show only the message.
 * @throws ServiceError
 */
export async function withDetails<Result>(call: Promise<Result>): Promise<Result> {
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
