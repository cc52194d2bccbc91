import { afterEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '#engine/json';
import { stopServices, toolCallsService } from '../../support/peers/mcp-services.js';

const NAMES = Array.from({ length: 1_000 }, (_, index) => `name${index}`);
const COSTLY = { problem: expect.stringContaining('takes too much work') as string };

/** Returns the schema of an object with a list of `items` as `text`. */
const listOf = (items: JsonObject): JsonObject => ({ properties: { text: { type: 'array', items } } });
const given = (length: number, item: unknown): string =>
  JSON.stringify({ text: Array.from({ length }, () => item) });

describe('ToolCallsService.checkArguments', () => {
  afterEach(stopServices);

  it.each<[string, string, JsonObject, unknown]>([
    ['that are valid', '{"a": 1}', { required: ['a'] }, { value: { a: 1 } }],
    ['that are invalid', '{"b": 1}', { required: ['a'] }, { problem: 'a: is required' }],
    ['that are not JSON', '{', {}, { problem: 'It is not valid JSON.' }],
    [
      'of a wide schema',
      given(20_000, Object.fromEntries(NAMES.slice(0, 20).map((name) => [name, 1]))),
      listOf({ properties: Object.fromEntries(NAMES.map((name) => [name, {}])) }),
      COSTLY,
    ],
    ['of a huge list of values', given(5_000, NAMES.at(-1)), listOf({ enum: NAMES }), COSTLY],
    ['of nested patterns', given(500, 'a'.repeat(2_000)), listOf({ pattern: '^((a?){9}){9}b' }), COSTLY],
  ])('checks arguments %s', async (_which, text, schema, verdict) => {
    expect(await toolCallsService().checkArguments({ text, schema })).toEqual(verdict);
  });

  it('runs no schema in the main thread', async () => {
    const service = toolCallsService();
    // This schema records each read: it is read once per check, to copy it to the worker thread.
    const read: string[] = [];
    const schema: JsonObject = Object.defineProperty({}, 'required', {
      enumerable: true,
      get: () => (read.push('required'), ['a']),
    });
    const verdicts = await Promise.all([1, 2].map(() => service.checkArguments({ text: '{}', schema })));
    expect(verdicts).toEqual([{ problem: 'a: is required' }, { problem: 'a: is required' }]);
    expect(read).toHaveLength(2);
  });

  it('fails when the check cannot run', async () => {
    const service = toolCallsService({ 'mcpCallLimits.maxInFlight': '1' });
    const asked = [1, 2].map(() => service.checkArguments({ text: '{}', schema: {} }));
    const refused = { outcome: 'failed', cause: 'overloaded', sent: 'never', latencyMs: 0 };
    expect(await Promise.all(asked)).toEqual([{ value: {} }, refused]);
    await service.onModuleDestroy();
    expect(await service.checkArguments({ text: '{}', schema: {} })).toMatchObject({ cause: 'stopping' });
  });
});
