import type { LookupFunction } from 'node:net';
import { boundedResolver } from '../../../../common/outbound/bounded-resolver.js';
import { type ResolvedAddress, systemResolver } from '../../../../common/outbound/guarded-lookup.js';

/** Half of libuv's threads: the other half stays free however many names of a scan do not resolve. */
const LOOKUPS = 2;
const MAX_WAIT_MS = 10_000;

const resolve = boundedResolver(systemResolver, LOOKUPS, MAX_WAIT_MS);

/** Resolves the host names of all probes of this process, two at once. */
export const probeLookup: LookupFunction = (hostname, options, callback) => {
  void answer(hostname, options, callback);
};

async function answer(...[hostname, options, callback]: Parameters<LookupFunction>): Promise<void> {
  let addresses: ResolvedAddress[];
  try {
    addresses = await resolve(hostname);
  } catch (error) {
    callback(error as NodeJS.ErrnoException, '');
    return;
  }
  const usable = addresses.filter(({ family }) => !options.family || family === options.family);
  const [first] = usable;
  if (first === undefined) {
    callback(Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), '');
  } else if (options.all === true) {
    callback(null, usable);
  } else {
    callback(null, first.address, first.family);
  }
}
