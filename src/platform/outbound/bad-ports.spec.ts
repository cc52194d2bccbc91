import { Dispatcher, fetch } from 'undici';
import { describe, expect, it } from 'vitest';

import { isBadPort } from './address-policy.js';

/** Beyond the highest port of the list, with some to spare for a list that grows. */
const ASKED = 12_000;

class DiallingError extends Error {}

/** Stands where the network begins: a port that fetch refuses is never dispatched. */
class NoNetwork extends Dispatcher {
  override dispatch(): boolean {
    throw new DiallingError();
  }
}

describe('isBadPort', () => {
  it('is true of every port that fetch refuses, and of no other', async () => {
    const dispatcher = new NoNetwork();
    const refused: number[] = [];
    for (let port = 1; port < ASKED; port += 1) {
      const error: unknown = await fetch(`http://mcp.example.com:${port}/`, { dispatcher }).catch(
        (reason: unknown) => reason,
      );
      if (!((error as Error).cause instanceof DiallingError)) {
        refused.push(port);
      }
    }
    const ours = Array.from({ length: ASKED }, (_none, port) => port).filter(isBadPort);
    // Nothing can listen on port 0; the standard lists it, undici does not yet.
    expect(ours).toEqual([0, ...refused]);
    expect(refused).toEqual(expect.arrayContaining([1, 6_000, 10_080]));
  });

  it.each([80, 443, 3_000, 8_080, 8_443, 65_535])('is not true of %i', (port) => {
    expect(isBadPort(port)).toBe(false);
  });
});
