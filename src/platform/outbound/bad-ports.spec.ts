import { Dispatcher, fetch } from 'undici';
import { describe, expect, it } from 'vitest';

import { isBadPort } from './address-policy.js';

/** Above the highest port of the list, so that the test notices additions. */
const LIMIT = 12_000;

class DiallingError extends Error {}

/** Replaces the network. `fetch` never dispatches a request to a port that it refuses. */
class NoNetwork extends Dispatcher {
  override dispatch(): boolean {
    throw new DiallingError();
  }
}

describe('isBadPort', () => {
  it('is true for exactly the ports that fetch refuses', async () => {
    const dispatcher = new NoNetwork();
    const refused: number[] = [];
    for (let port = 1; port < LIMIT; port += 1) {
      const error: unknown = await fetch(`http://mcp.example.com:${port}/`, { dispatcher }).catch(
        (reason: unknown) => reason,
      );
      if (!((error as Error).cause instanceof DiallingError)) {
        refused.push(port);
      }
    }
    const ours = Array.from({ length: LIMIT }, (_none, port) => port).filter(isBadPort);
    // The standard lists port 0, undici does not yet.
    expect(ours).toEqual([0, ...refused]);
    expect(refused).toEqual(expect.arrayContaining([1, 6_000, 10_080]));
  });

  it.each([80, 443, 3_000, 8_080, 8_443, 65_535])('is false for %i', (port) => {
    expect(isBadPort(port)).toBe(false);
  });
});
