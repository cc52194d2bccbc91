import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#engine/json';
import { checkedText } from '#engine/json-schema';
import { readAnswer } from './agent-run.js';

/** Checks answers like the worker. */
const toolCalls = {
  checkAnswer: ({ text, schema }: { text: string; schema: JsonObject }) =>
    Promise.resolve(checkedText(text, schema, 'own')),
};
const read = (content: string | null, schema: JsonObject) => readAnswer(content, schema, toolCalls);
const SCHEMA = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] };

describe('readAnswer', () => {
  it.each([['{"a": 1}'], [' \n{"a":1}\n'], ['```json\n{"a": 1}\n```'], ['```\n{"a": 1}```']])(
    'reads %j',
    async (text) => {
      expect(await read(text, SCHEMA)).toEqual({ value: { a: 1 } });
    },
  );

  it.each([
    ['nothing', null, 'It is not valid JSON.'],
    ['text around it', 'The answer is {"a": 1}', 'It is not valid JSON.'],
    ['too many levels', `{"a": ${'['.repeat(70)}${']'.repeat(70)}}`, 'It has more than 64 levels.'],
    ['a missing member', '{}', 'a: is required'],
  ])('describes the problem of %s', async (_case, text, problem) => {
    expect(await read(text, SCHEMA)).toEqual({ problem });
  });

  it('names only members of the schema and limits the length', async () => {
    const list = { type: 'array', items: { type: 'number' } };
    const schema = { type: 'object', properties: { 'list.of': list }, additionalProperties: false };
    const text = JSON.stringify({ 'list.of': [1, 'x'], 'my own words': 1, ['x'.repeat(1_000)]: 1 });
    const { problem } = (await read(text, schema)) as { problem: string };
    expect(problem.split('; ').toSorted()).toEqual([
      '(unknown member): is not allowed',
      '(unknown member): is not allowed',
      expect.stringMatching(/^list\.of\[1\]: must be /),
    ]);
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`own${index}`, 1]));
    const long = (await read(JSON.stringify(many), schema)) as { problem: string };
    expect(long.problem.length).toBeLessThanOrEqual(1_000);
  });

  it.each(['```', '``````', '```json {"a": 1}```'])('rejects the malformed code block %j', async (text) => {
    expect(await read(text, SCHEMA)).toEqual({ problem: 'It is not valid JSON.' });
  });

  it('reads a code block of any length in bounded time', async () => {
    const lines = '\n'.repeat(100_000);
    const startedAt = performance.now();
    expect(await read(`\`\`\`${lines}x`, SCHEMA)).toEqual({ problem: 'It is not valid JSON.' });
    expect(await read(`\`\`\`json${lines}{"a": 1}${lines}\`\`\``, SCHEMA)).toEqual({ value: { a: 1 } });
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  it('rejects answers that take too long to validate', async () => {
    const branches = Array.from({ length: 40 }, () => ({ items: { $ref: '#' }, minItems: 1 }));
    const nested = { type: 'array', anyOf: branches };
    const text = `${'['.repeat(20)}${']'.repeat(20)}`;
    expect(await read(text, nested)).toHaveProperty('problem');
  });
});
