import { describe, expect, it } from 'vitest';
import { readAnswer, readArguments } from './agent-answer.js';

const SCHEMA = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] };

describe('readAnswer', () => {
  it.each([['{"a": 1}'], [' \n{"a":1}\n'], ['```json\n{"a": 1}\n```'], ['```\n{"a": 1}```']])(
    'reads %j',
    (text) => {
      expect(readAnswer(text, SCHEMA)).toEqual({ value: { a: 1 } });
    },
  );

  it.each([
    ['nothing', null, 'It is not valid JSON.'],
    ['text around it', 'The answer is {"a": 1}', 'It is not valid JSON.'],
    ['too many levels', `{"a": ${'['.repeat(70)}${']'.repeat(70)}}`, 'It has more than 64 levels.'],
    ['a member that is missing', '{}', 'a: is required'],
  ])('says what is wrong with %s', (_case, text, problem) => {
    expect(readAnswer(text, SCHEMA)).toEqual({ problem });
  });

  it('takes no answer that cannot be checked in bounded time', () => {
    const branches = Array.from({ length: 40 }, () => ({ items: { $ref: '#' }, minItems: 1 }));
    const nested = { type: 'array', anyOf: branches };
    const text = `${'['.repeat(20)}${']'.repeat(20)}`;
    expect(readAnswer(text, nested)).toHaveProperty('problem');
  });
});

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
