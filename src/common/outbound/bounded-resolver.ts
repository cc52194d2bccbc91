import type { ResolvedAddress, Resolver } from './guarded-lookup.js';
import { OutboundError } from './outbound.error.js';

interface Waiter {
  since: number;
  start: () => void;
  expire: () => void;
}

/**
 * Lets only a few lookups of a resolver run at once. The resolver of the operating system occupies a thread of libuv's
 * pool of four for as long as a name server likes; files, compression and everybody else's lookups use the same pool, so
 * names that never resolve must not be able to take it all.
 * @param slots lookups at once
 * @param maxWaitMs milliseconds after which a lookup that has not started is given up (`timeout`)
 */
export function boundedResolver(resolver: Resolver, slots: number, maxWaitMs: number): Resolver {
  const waiters: Waiter[] = [];
  let running = 0;

  const next = (): void => {
    while (running < slots) {
      const waiter = waiters.shift();
      if (waiter === undefined) {
        return;
      }
      if (performance.now() - waiter.since > maxWaitMs) {
        waiter.expire();
      } else {
        running += 1;
        waiter.start();
      }
    }
  };

  return async (host): Promise<ResolvedAddress[]> => {
    await new Promise<void>((start, reject) => {
      const expire = (): void => reject(new OutboundError('timeout'));
      waiters.push({ since: performance.now(), start, expire });
      next();
    });
    try {
      return await resolver(host);
    } finally {
      running -= 1;
      next();
    }
  };
}
