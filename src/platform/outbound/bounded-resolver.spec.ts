import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, it } from 'vitest';

import { boundedResolver } from './guarded-lookup.js';

const ANSWER = [{ address: '192.0.2.1', family: 4 }];

describe('boundedResolver', () => {
  it('never runs more concurrent lookups than it has slots', async () => {
    let running = 0;
    let most = 0;
    const resolver = boundedResolver(
      async () => {
        running += 1;
        most = Math.max(most, running);
        await sleep(5);
        running -= 1;
        return ANSWER;
      },
      2,
      1_000,
    );
    const answers = await Promise.all(Array.from({ length: 10 }, (_, index) => resolver(`host-${index}`)));
    expect(answers).toHaveLength(10);
    expect(most).toBe(2);
  });

  it('rejects lookups that waited too long and continues after a failure', async () => {
    const resolver = boundedResolver(
      async (host) => {
        await sleep(60);
        if (host === 'bad') {
          throw new Error('no such name');
        }
        return ANSWER;
      },
      1,
      30,
    );
    const [first, second] = await Promise.allSettled([resolver('bad'), resolver('late')]);
    expect(first).toMatchObject({ status: 'rejected', reason: { message: 'no such name' } });
    expect(second).toMatchObject({ status: 'rejected', reason: { failure: 'timeout' } });
    await expect(resolver('good')).resolves.toEqual(ANSWER);
  });
});
