import { validateSync } from 'class-validator';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CONTRACT_MESSAGE } from '../../common/validation/request-validation.pipe.js';
import { IsResourceName, nameKey, RESOURCE_NAME_MESSAGE } from './resource-name.js';

class Named {
  @IsResourceName({})
  resourceName: unknown;
}

const errorsOf = (resourceName: unknown) => validateSync(Object.assign(new Named(), { resourceName }));

describe('IsResourceName', () => {
  it('takes exactly the characters of the contract', () => {
    const allowed = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789[]().-_';
    for (let code = 0; code <= 0xffff; code += 1) {
      const character = String.fromCharCode(code);
      expect(errorsOf(character).length === 0, `U+${code.toString(16)}`).toBe(allowed.includes(character));
    }
  });

  it('carries the message of the contract for every other character, wherever it stands', () => {
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

  it('takes 1 to 255 characters', () => {
    expect(errorsOf('n'.repeat(255))).toEqual([]);
    for (const name of ['', 'n'.repeat(256)]) {
      expect(errorsOf(name)[0]?.constraints).toEqual({ isLength: 'must have 1 to 255 characters' });
    }
  });

  it.each([undefined, null, 7, {}, ['name'], true])('refuses %j', (value) => {
    expect(errorsOf(value)[0]?.constraints).toMatchObject({ isString: 'must be a string' });
  });
});

describe('nameKey', () => {
  it('is equal for names that differ by case alone', () => {
    expect(nameKey('Stock_[1].(A)-b')).toBe('stock_[1].(a)-b');
    expect(nameKey('STOCK')).toBe(nameKey('stock'));
    expect(nameKey('stock-1')).not.toBe(nameKey('stock_1'));
  });
});
