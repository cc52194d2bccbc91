import { describe, expect, it } from 'vitest';
import { readAnswer } from './agent-answer.js';

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

  it('tells names of members only where the schema has them, and not without end', () => {
    const list = { type: 'array', items: { type: 'number' } };
    const schema = { type: 'object', properties: { 'list.of': list }, additionalProperties: false };
    const text = JSON.stringify({ 'list.of': [1, 'x'], 'my own words': 1, ['x'.repeat(1_000)]: 1 });
    const { problem } = readAnswer(text, schema) as { problem: string };
    expect(problem.split('; ').toSorted()).toEqual([
      '(unknown member): is not allowed',
      '(unknown member): is not allowed',
      expect.stringMatching(/^list\.of\[1\]: must be /),
    ]);
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`own${index}`, 1]));
    const long = readAnswer(JSON.stringify(many), schema) as { problem: string };
    expect(long.problem.length).toBeLessThanOrEqual(1_000);
  });

  it.each(['```', '``````', '```json {"a": 1}```'])('reads no code block out of %j', (text) => {
    expect(readAnswer(text, SCHEMA)).toEqual({ problem: 'It is not valid JSON.' });
  });

  it('reads a code block of any length in bounded time', () => {
    const lines = '\n'.repeat(100_000);
    const startedAt = performance.now();
    expect(readAnswer(`\`\`\`${lines}x`, SCHEMA)).toEqual({ problem: 'It is not valid JSON.' });
    expect(readAnswer(`\`\`\`json${lines}{"a": 1}${lines}\`\`\``, SCHEMA)).toEqual({ value: { a: 1 } });
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  it('takes no answer that cannot be checked in bounded time', () => {
    const branches = Array.from({ length: 40 }, () => ({ items: { $ref: '#' }, minItems: 1 }));
    const nested = { type: 'array', anyOf: branches };
    const text = `${'['.repeat(20)}${']'.repeat(20)}`;
    expect(readAnswer(text, nested)).toHaveProperty('problem');
  });
});
