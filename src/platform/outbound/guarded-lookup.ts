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

/** Resolves a host name to all its addresses; rejects when there is none. */
export type Resolver = (host: string) => Promise<ResolvedAddress[]>;

/** Resolver of the operating system, including hosts file and search domains. */
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
 * Returns a `lookup` for sockets that checks every address. Sockets connect to exactly the addresses that were checked, which
 * rules out DNS rebinding. One rejected address rejects the host. IP literals are checked in the URL.
 */
export function guardedLookup(policy: AddressPolicy, resolver: Resolver, port: number): LookupFunction {
  return lookupBy((hostname) =>
    checkedAddresses(policy, resolver, { host: hostname.toLowerCase().replace(/\.$/, ''), port }),
  );
}

/** Returns a `lookup` for sockets that uses a resolver. */
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

/** Resolves a host and checks all its addresses. @throws OutboundError `blocked`, `dns`; what the resolver throws */
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
 * Limits concurrent lookups, because each one occupies one of libuv's four shared threads until the name server answers.
 * A lookup that has not started after `maxWaitMs` fails with `timeout`.
 */
export function boundedResolver(resolver: Resolver, slots: number, maxWaitMs: number): Resolver {
  const lookups = new Bulkhead({ capacity: slots, waitMs: maxWaitMs }, () => new OutboundError('timeout'));
  return (host) => lookups.run(() => resolver(host));
}
