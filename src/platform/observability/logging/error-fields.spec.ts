import { describe, expect, it } from 'vitest';
import { errorFields } from './error-fields.js';

const FOREIGN = "it's foreign\n    at text (file:///a.js:1:1)";
const nothing: Record<string, unknown> | undefined = Object.create({ none: undefined })['none'];

/** Returns the log fields of the error that a function throws. */
function fieldsOf(fails: () => unknown): ReturnType<typeof errorFields> {
  try {
    fails();
  } catch (error) {
    return errorFields(error);
  }
  throw new Error('nothing was thrown');
}

describe('errorFields', () => {
  it.each<[string, () => unknown]>([
    ["Cannot read properties of undefined (reading 'rows')", () => nothing!['rows']],
    ["Cannot read properties of undefined (reading '…')", () => nothing![FOREIGN]],
    ['Cannot create …', () => Object.assign({}, ((FOREIGN as never)['rows'] = 1 as never))],
    ['Cannot use …', () => 'rows' in (FOREIGN as never)],
    [
      'There are two handlers.',
      () => {
        throw new TypeError('There are two handlers.');
      },
    ],
  ])('contain the message of an error thrown by the service: %s', (errorMessage, fails) => {
    const fields = fieldsOf(fails);
    expect(fields).toMatchObject({ errorMessage, stack: expect.stringContaining('error-fields.spec.ts') });
    expect(JSON.stringify(fields)).not.toContain('foreign');
    expect(JSON.stringify(fields)).not.toContain('a.js');
  });

  it.each<[string, () => unknown]>([
    ['the JSON parser', () => JSON.parse(FOREIGN)],
    ['Node.js', () => Buffer.from(FOREIGN, FOREIGN as never)],
    ['a built-in function', () => new Map([FOREIGN] as never)],
    [
      'another error class',
      () => {
        throw new Foreign(FOREIGN);
      },
    ],
  ])('contain no message of %s', (_, fails) => {
    const fields = fieldsOf(fails);
    expect(fields).toMatchObject({ errorName: expect.any(String), errorMessage: undefined });
    expect(fields['stack']).toContain('error-fields.spec.ts');
    expect(JSON.stringify(fields)).not.toContain('foreign');
    expect(JSON.stringify(fields)).not.toContain('a.js');
  });

  it('contain no message of an error thrown by a library', () => {
    const error = new TypeError('rows');
    error.stack = 'TypeError: rows\n    at send (file:///app/node_modules/driver/index.js:1:1)';
    expect(errorFields(error)['errorMessage']).toBeUndefined();
  });
});

class Foreign extends Error {}
