import { validateSync } from 'class-validator';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CONTRACT_MESSAGE } from '../../platform/validation/request-validation.pipe.js';
import { nameKey } from '../../platform/validation/resource-name.js';
import { IsResourceName, RESOURCE_NAME_MESSAGE } from './system-field.decorator.js';

class Named {
  @IsResourceName({})
  resourceName: unknown;
}

const errorsOf = (resourceName: unknown) => validateSync(Object.assign(new Named(), { resourceName }));
const codesBetween = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_none, index) => first + index);

describe('IsResourceName', () => {
  it('accepts exactly the characters of the contract', () => {
    const allowed = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789[]().-_';
    // Latin letters, fullwidth forms, and letters that become ASCII letters when their case changes.
    const codes = [...codesBetween(0, 0x24f), ...codesBetween(0xff00, 0xff5e), 0x212a, 0x131, 0x17f];
    const taken = codes
      .map((code) => String.fromCharCode(code))
      .filter((text) => errorsOf(text).length === 0);
    expect(taken.toSorted()).toEqual([...allowed].toSorted());
  });

  it('reports the message of the contract for any other character at any position', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[\w[\]().-]{0,20}$/),
        fc.constantFrom(...' /@ä😀\n\u0000{}:'),
        (text, bad) => {
          for (const name of [bad + text, text + bad]) {
            const [error] = errorsOf(name);
            expect(error?.constraints?.['matches']).toBe(RESOURCE_NAME_MESSAGE);
            expect(error?.contexts?.['matches']).toEqual({ [CONTRACT_MESSAGE]: RESOURCE_NAME_MESSAGE });
          }
        },
      ),
    );
  });

  it('accepts 1 to 255 characters', () => {
    expect(errorsOf('n'.repeat(255))).toEqual([]);
    for (const name of ['', 'n'.repeat(256)]) {
      expect(errorsOf(name)[0]?.constraints).toEqual({ hasLength: 'must have 1 to 255 characters' });
    }
  });

  it.each([undefined, null, 7, {}, ['name'], true])('refuses %j', (value) => {
    expect(errorsOf(value)[0]?.constraints).toMatchObject({ isString: 'must be a string' });
  });
});

describe('nameKey', () => {
  it('is equal for names that differ only in case', () => {
    expect(nameKey('Stock_[1].(A)-b')).toBe('stock_[1].(a)-b');
    expect(nameKey('STOCK')).toBe(nameKey('stock'));
    expect(nameKey('stock-1')).not.toBe(nameKey('stock_1'));
  });
});
