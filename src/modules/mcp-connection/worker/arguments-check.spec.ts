import { describe, expect, it } from 'vitest';
import { readArguments } from './arguments-check.js';

describe('readArguments', () => {
  it('takes none for an empty object', () => {
    expect(readArguments('', { type: 'object' })).toEqual({ value: {} });
  });

  it.each(['[]', '5', 'null', '"a"'])('refuses %s, whatever the schema says', (text) => {
    expect(readArguments(text, {})).toEqual({ problem: 'Arguments are a JSON object.' });
  });

  it('leaves to the server what it cannot check', () => {
    expect(readArguments('{"a": 1}', { 'x-unknown': true })).toEqual({ value: { a: 1 } });
  });
});
