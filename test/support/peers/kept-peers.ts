import { afterEach } from 'vitest';

/**
 * Closes what a test has started when it ends. To be called once in a file or suite.
 * @returns keeps what is being started
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
