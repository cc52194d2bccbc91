import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { UnreadableBodyError } from '../errors/request.errors.js';
import { TooManyCallerRequestsError } from './rate-limit.errors.js';
import { RequestsUnderWay } from './requests-under-way.js';

const opened = (state = {}): ServerResponse =>
  Object.assign(new EventEmitter(), {
    closed: false,
    req: { socket: { destroyed: false } },
    ...state,
  }) as never;

const limit = (max: number) => ({ name: 'httpLimits.callerRequests', max });

/** More iterations of the event loop than a request ever waits for, even on a busy machine. */
const TURNS = 50;

const enter = async (requests: RequestsUnderWay, ...request: Parameters<RequestsUnderWay['enter']>) =>
  requests.enter(...request);

describe('RequestsUnderWay', () => {
  const begun: string[] = [];
  /** Sends a request and adds its name to `begun` when it is processed. Returns a function that closes it. */
  const send = (requests: RequestsUnderWay, caller: string, name: string, takesTurn = true): (() => void) => {
    const response = opened();
    void enter(requests, caller, response, takesTurn).then(() => begun.push(name));
    return () => {
      Object.assign(response, { closed: true });
      response.emit('close');
    };
  };
  const order = async (): Promise<string[]> => {
    for (let turn = 0; turn < TURNS; turn += 1) {
      await setImmediate();
    }
    return begun.splice(0);
  };

  it('processes some requests of a caller concurrently, in order, and those of others immediately', async () => {
    const requests = new RequestsUnderWay({ underWay: limit(0), atWork: 2 });
    const [a, b, c] = ['a', 'b', 'c', 'd'].map((name) => send(requests, 'one', name));
    send(requests, 'two', 'other');
    send(requests, 'one', 'rescan', false);
    expect((await order()).toSorted()).toEqual(['a', 'b', 'other', 'rescan']);

    b?.();
    expect(await order()).toEqual(['c']);
    a?.();
    c?.();
    expect(await order()).toEqual(['d']);
  });

  it('skips a request that is closed while it waits', async () => {
    const requests = new RequestsUnderWay({ underWay: limit(0), atWork: 1 });
    const [a, b] = ['a', 'b', 'c', 'd'].map((name) => send(requests, 'one', name));
    b?.();
    expect(await order()).toEqual(['a']);
    a?.();
    expect(await order()).toEqual(['c']);
  });

  it('rejects requests beyond the limit including those that wait, and forgets callers without requests', async () => {
    const requests = new RequestsUnderWay({ underWay: limit(2), atWork: 1 });
    const sent = ['a', 'b'].map((name) => send(requests, 'one', name));
    const refused = enter(requests, 'one', opened(), true);
    await expect(refused).rejects.toBeInstanceOf(TooManyCallerRequestsError);
    sent.forEach((close) => close());
    await order();

    ['c', 'd'].forEach((name) => send(requests, 'one', name));
    expect(await order()).toEqual(['c']);
  });

  it.each([{ closed: true }, { req: { socket: { destroyed: true } } }])(
    'does not count a request that is already closed: %o',
    async (state) => {
      const requests = new RequestsUnderWay({ underWay: limit(1), atWork: 1 });
      await expect(enter(requests, 'one', opened(state), true)).rejects.toBeInstanceOf(UnreadableBodyError);
      send(requests, 'one', 'next');
      expect(await order()).toEqual(['next']);
    },
  );

  it('has no limit when it is 0', async () => {
    const requests = new RequestsUnderWay({ underWay: limit(0), atWork: 0 });
    Array.from({ length: 500 }, (_, index) => send(requests, 'one', String(index)));
    expect(await order()).toHaveLength(500);
  });
});
