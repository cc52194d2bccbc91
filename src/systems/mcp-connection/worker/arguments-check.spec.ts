import { describe, expect, it } from 'vitest';
import { checkedJson, readArguments } from './arguments-check.js';

describe('readArguments', () => {
  it('reads an empty text as an empty object', () => {
    expect(readArguments('', { type: 'object' })).toEqual({ value: {} });
  });

  it.each(['[]', '5', 'null', '"a"'])('rejects %s, even if the schema allows it', (text) => {
    expect(readArguments(text, {})).toEqual({ problem: 'Arguments must be a JSON object.' });
  });

  it('rejects integers that would be rounded, and explains what to write', () => {
    expect(readArguments('{"id": 3544790567247868102}', {})).toEqual({
      problem:
        '3544790567247868102 would be rounded: integers go up to 2^53 - 1 (9007199254740991). Write a larger one as a string, in quotes.',
    });
  });

  it('checks formats of answers, but leaves those of arguments to the server', () => {
    const schema = { properties: { at: { format: 'date-time' } } };
    const text = '{"at":"2026-01-01T10:00:00"}';
    expect(checkedJson({ of: 'arguments', text, schema })).toEqual({ valueJson: text });
    expect(checkedJson({ of: 'answer', text, schema })).toEqual({
      problem: 'at: must have the format date-time',
    });
  });

  it('leaves schemas that it cannot check to the server', () => {
    expect(readArguments('{"a": 1}', { 'x-unknown': true })).toEqual({ value: { a: 1 } });
  });
});
