import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

/** Base classes of errors whose message is sent to callers. */
const KINDS = [
  'InvalidRequestError',
  'UnauthorizedError',
  'ForbiddenError',
  'NotFoundError',
  'ConflictError',
  'TooManyRequestsError',
  'UnavailableError',
  'UnknownOutcomeError',
];

interface ErrorClass {
  name: string;
  kind: string;
  /** The longest fixed part of its message; undefined if the message is a parameter. */
  message: string | undefined;
}

/** Finds error classes in a source file. */
function errorsOf(text: string): ErrorClass[] {
  return [...text.matchAll(/^export (?:abstract )?class (\w+) extends (\w+) \{(.*?)^\}/gms)].map(
    ([, name = '', kind = '', body = '']) => {
      const [, quoted, template] = /super\(\s*(?:'([^']*)'|`([^`]*)`)/.exec(body) ?? [];
      const parts = (quoted ?? template)?.split(/\$\{[^}]*\}/) ?? [];
      const [message] = parts.toSorted((one, other) => other.length - one.length);
      return { name, kind, message };
    },
  );
}

/** Returns the errors that are derived, directly or indirectly, from one of the base classes. */
function sentToCallers(errors: readonly ErrorClass[]): ErrorClass[] {
  const kinds = new Set(KINDS);
  for (const { name, kind } of [...errors, ...errors]) {
    if (kinds.has(kind)) {
      kinds.add(name);
    }
  }
  return errors.filter(({ kind, name }) => kinds.has(kind) && !KINDS.includes(name));
}

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.spec.ts'))
  .map((path) => `src/${path}`);
const errors = sentToCallers(files.flatMap((path) => errorsOf(readFileSync(path, 'utf8'))));
const documents = ['openapi.json', 'docs/contract.md'].map((path) => readFileSync(path, 'utf8')).join('\n');

describe('error messages', () => {
  it('are found in the code', () => {
    const names = errors.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(['PackageMovedError', 'RateLimitExceededError', 'SystemNotFoundError']),
    );
    expect(errors.filter(({ message }) => message !== undefined).length).toBeGreaterThan(30);
  });

  it.each(errors.filter(({ message }) => Boolean(message)))(
    '$name: "$message" is in the OpenAPI document or in the contract',
    ({ message }) => {
      expect(documents).toContain(message);
    },
  );
});
