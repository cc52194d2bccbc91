import { afterEach } from 'vitest';

/**
 * Closes peers after the test that started them. Call once per file or suite.
 * @returns function that registers a peer for closing and returns it
 */
export function keptPeers(): <T extends { close(): Promise<void> }>(starting: T | Promise<T>) => Promise<T> {
  const open: { close(): Promise<void> }[] = [];
  afterEach(() => Promise.all(open.splice(0).map((peer) => peer.close())));
  return async (starting) => {
    const peer = await starting;
    open.push(peer);
    return peer;
  };
}
