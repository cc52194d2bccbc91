import { isIPv6 } from 'node:net';
import type { RequestHandler } from 'express';
import ipaddr from 'ipaddr.js';
import type { RateLimits } from './rate-limits.js';

/** Health probes are not limited: behind a proxy they share its address, and after a 429 the orchestrator would restart us. */
const UNLIMITED_PATHS: ReadonlySet<string> = new Set(['/livez', '/readyz']);
/** Length of the network part. A client can choose the host part of its IPv6 address freely. */
const IPV6_NETWORK_BYTES = 8;

/** Limits requests by client address (`request.ip`) before authentication, so that requests with invalid tokens count too. */
export function addressRateLimit(limits: RateLimits): RequestHandler {
  return async (request, response, next) => {
    if (!UNLIMITED_PATHS.has(request.path)) {
      await limits.apply(() => limits.address.consume(addressKey(request.ip ?? ''), response));
    }
    next();
  };
}

/** Returns the key of an address: one for each IPv4 address, also when mapped into IPv6, and one for each IPv6 /64 network. */
export function addressKey(address: string): string {
  if (!isIPv6(address)) {
    return address;
  }
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4'
    ? parsed.toString()
    : Buffer.from(parsed.toByteArray().slice(0, IPV6_NETWORK_BYTES)).toString('hex');
}
