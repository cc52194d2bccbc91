import { describe, expect, it } from 'vitest';
import type { NodeTexts } from '../workflows/model/node-executor.js';
import type { RunnableNode } from '../workflows/model/workflow.types.js';
import { restRequest } from './rest-request.js';

const texts = {
  fill: (text: string) => Promise.resolve({ text, missing: [], isFixed: true }),
} as unknown as NodeTexts;

/** Creates a request with `count` credential headers of `length` characters, without scheme or parameters. */
const requestWith = (count: number, length: number) => {
  const names = Array.from({ length: count }, (_, index) => `x-${index}-token`);
  const headers = Object.fromEntries(names.map((name, index) => [name, `${index}`.padEnd(length, 'a')]));
  const node = { inputBody: null, payload: { method: 'GET', path: '/', headers } } as unknown as RunnableNode;
  return restRequest(node, 'https://rest.example.com', { texts, input: null }, 1_000);
};

describe('restRequest', () => {
  it('accepts up to 50 credentials', async () => {
    expect((await requestWith(50, 20)).credentials).toHaveLength(50);
    await expect(requestWith(51, 20)).rejects.toMatchObject({ code: 'NODE_INPUT_INVALID' });
  });

  it('accepts credentials of up to 49,152 bytes in total', async () => {
    expect((await requestWith(6, 8_192)).credentials).toHaveLength(6);
    await expect(requestWith(7, 8_192)).rejects.toMatchObject({
      code: 'NODE_INPUT_INVALID',
      message: expect.stringContaining('49152 bytes') as unknown,
    });
  });
});
