import { lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { callbackify } from 'node:util';
import type { AddressPolicy } from './address-policy.js';
import { Bulkhead } from '../concurrency/bulkhead.js';
import { OutboundError } from './outbound.error.js';

interface ResolvedAddress {
  address: string;
  family: number;
}

/** Resolves a host name to all its addresses; rejects when there is none. Injectable so that tests can play DNS. */
export type Resolver = (host: string) => Promise<ResolvedAddress[]>;

/** The resolver of the operating system (hosts file, search domains and all). */
export const systemResolver: Resolver = (host) =>
  new Promise((resolve, reject) => {
    systemLookup(host, { all: true, verbatim: true }, (error, addresses) => {
      if (error) {
        reject(error);
      } else {
        resolve(addresses);
      }
    });
  });

/**
 * A `lookup` for sockets that judges every answer and hands out only judged addresses: what is checked is
 * what is dialled, so DNS rebinding has no gap to use. One refused answer refuses the host. IP literals are
 * checked in the URL.
 */
export function guardedLookup(policy: AddressPolicy, resolver: Resolver, port: number): LookupFunction {
  return lookupBy((hostname) =>
    checkedAddresses(policy, resolver, { host: hostname.toLowerCase().replace(/\.$/, ''), port }),
  );
}

/** A `lookup` for sockets that hands out what a resolver finds. */
export function lookupBy(resolver: Resolver): LookupFunction {
  return (hostname, { all, family }, callback) => {
    callbackify(resolver)(hostname, (error, addresses) => {
      const usable = error ? [] : addresses.filter((address) => !family || address.family === family);
      const [first] = usable;
      if (first === undefined) {
        callback(error ?? Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), []);
      } else if (all === true) {
        callback(null, usable);
      } else {
        callback(null, first.address, first.family);
      }
    });
  };
}

/** All addresses of a host, judged. @throws OutboundError `blocked`, `dns`; what the resolver throws */
export async function checkedAddresses(
  policy: AddressPolicy,
  resolver: Resolver,
  target: { host: string; port: number },
): Promise<ResolvedAddress[]> {
  const found = await resolver(target.host);
  if (found.length === 0) {
    throw new OutboundError('dns');
  }
  found.forEach(({ address }) => policy.checkAddress(address, target));
  return found;
}

/**
 * Lets only a few lookups run at once: each occupies one of libuv's four threads, which everybody uses, for
 * as long as a name server likes. One that has not started after `maxWaitMs` is given up (`timeout`).
 */
export function boundedResolver(resolver: Resolver, slots: number, maxWaitMs: number): Resolver {
  const lookups = new Bulkhead({ capacity: slots, waitMs: maxWaitMs }, () => new OutboundError('timeout'));
  return (host) => lookups.run(() => resolver(host));
}
