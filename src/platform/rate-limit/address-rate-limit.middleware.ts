import { isIPv6 } from 'node:net';
import type { RequestHandler } from 'express';
import ipaddr from 'ipaddr.js';
import type { RateLimits } from './rate-limits.js';

/** Probes stay unlimited: behind a proxy they share its address, and a 429 would make the orchestrator kill us. */
const UNLIMITED_PATHS: ReadonlySet<string> = new Set(['/livez', '/readyz']);
/** The host part of an IPv6 address is free to choose for whoever has the network part. */
const IPV6_NETWORK_BYTES = 8;

/** Limits requests by client address (`request.ip`) before authentication: a storm of bad tokens too. */
export function addressRateLimit(limits: RateLimits): RequestHandler {
  return async (request, response, next) => {
    if (!UNLIMITED_PATHS.has(request.path)) {
      await limits.ask(() => limits.address.consume(addressKey(request.ip ?? ''), response));
    }
    next();
  };
}

/** One key for an IPv4 address, also when mapped into IPv6, and one for a /64 network of IPv6. */
export function addressKey(address: string): string {
  if (!isIPv6(address)) {
    return address;
  }
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4'
    ? parsed.toString()
    : Buffer.from(parsed.toByteArray().slice(0, IPV6_NETWORK_BYTES)).toString('hex');
}
