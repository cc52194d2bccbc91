import { lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';

import type { AddressPolicy } from './address-policy.js';
import { OutboundError } from './outbound.error.js';

/** One answer of name resolution. */
export interface ResolvedAddress {
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
 * A `lookup` for sockets that resolves once, judges every answer, and hands out only judged addresses. The address that
 * is checked is the address that is dialled, so DNS rebinding has no gap to use. One refused answer refuses the host,
 * because we do not choose which of several answers is dialled.
 *
 * Never called for IP literals: those are checked in the URL.
 * @param portFor the port that is about to be dialled on a host
 */
export function guardedLookup(policy: AddressPolicy, resolver: Resolver, port: number): LookupFunction {
  return (hostname, options, callback) => {
    const host = hostname.toLowerCase().replace(/\.$/, '');
    void answer(checkedAddresses(policy, resolver, { host, port }), options.all === true, callback);
  };
}

async function answer(
  resolution: Promise<[ResolvedAddress, ...ResolvedAddress[]]>,
  all: boolean,
  callback: Parameters<LookupFunction>[2],
): Promise<void> {
  let addresses: [ResolvedAddress, ...ResolvedAddress[]];
  try {
    addresses = await resolution;
  } catch (error) {
    callback(error as NodeJS.ErrnoException, []);
    return;
  }
  if (all) {
    callback(null, addresses);
  } else {
    callback(null, addresses[0].address, addresses[0].family);
  }
}

/**
 * The addresses of a host, all of them judged.
 * @throws OutboundError `blocked`, `dns`; what the resolver throws
 */
export async function checkedAddresses(
  policy: AddressPolicy,
  resolver: Resolver,
  target: { host: string; port: number },
): Promise<[ResolvedAddress, ...ResolvedAddress[]]> {
  const [first, ...others] = await resolver(target.host);
  if (first === undefined) {
    throw new OutboundError('dns');
  }
  for (const { address } of [first, ...others]) {
    policy.checkAddress(address, target);
  }
  return [first, ...others];
}
