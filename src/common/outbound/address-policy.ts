import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

import { AllowRule, type Address } from './allow-rule.js';
import { isBadPort } from './bad-ports.js';
import { OutboundError } from './outbound.error.js';

/** Which plain http is let through. */
export type PlainHttp = 'refuse' | 'loopback' | 'allow';

/** What is said of a refused address; it says what to change. */
export const PLAIN_HTTP_RULE = 'must be an https URL: this service calls no plain http (OUTBOUND_HTTP)';

/** What a deployment lets the service call. */
export interface AddressPolicyOptions {
  /**
   * CIDR, address or host name, each with optional `:port` (IPv6 with a port in brackets). With `APP=` before it an entry holds for the calls of
   * this application only.
   */
  allow: readonly string[];
  /** Whether 127.0.0.0/8 and ::1 may be called without being listed. */
  allowLoopback: boolean;
  /** Which plain http is let through: none, that of this machine by its name or address, or all. @default 'allow' */
  plainHttp?: PlainHttp;
}

/** Names that no DNS has, and that another resolver could read as the name without the dots. */
const EMPTY_LABEL = /(^|\.)(\.|$)/;

/** Cloud metadata and platform services that hand out credentials; no allow-list opens them. */
const METADATA_RANGES = [
  '100.100.100.200/32',
  '192.0.0.192/32',
  '168.63.129.16/32',
  'fd00:ec2::/32',
  'fd20:ce::254/128',
].map((range) => ipaddr.parseCIDR(range));
const METADATA_HOSTS = new Set([
  'metadata',
  'metadata.google.internal',
  'instance-data',
  'instance-data.ec2.internal',
]);

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/**
 * Decides which URLs and addresses the service may call. It only judges; resolving, pinning and dialling is the work of
 * the guarded client, which asks at dial time for every address and every redirect hop.
 *
 * Refused always: other schemes than http(s), credentials in a URL, ports of other protocols, link-local addresses and
 * cloud metadata. So are such addresses that are embedded in an IPv6 transition address. Refused unless listed:
 * everything that is not globally routable unicast.
 */
export class AddressPolicy {
  private readonly rules: readonly AllowRule[];
  private readonly allowLoopback: boolean;
  private readonly plainHttp: PlainHttp;

  /**
   * @param app application that calls; without one no entry for an application holds
   * @throws RangeError when an entry of `allow` is neither a CIDR nor an address nor a host name
   */
  constructor(
    private readonly options: AddressPolicyOptions,
    private readonly app?: string,
  ) {
    const { allow, allowLoopback, plainHttp = 'allow' } = options;
    this.rules = allow
      .map((entry) => ownedRule(entry))
      .filter(({ owner }) => owner === undefined || owner === app)
      .map(({ rule }) => rule);
    this.allowLoopback = allowLoopback;
    this.plainHttp = plainHttp;
  }

  /** The policy for the calls of an application; undefined for those of none. */
  of(app: string | undefined): AddressPolicy {
    return app === this.app ? this : new AddressPolicy(this.options, app);
  }

  /**
   * Checks everything about a URL that can be known before resolving its host name.
   * @throws OutboundError `protocol` for another scheme or credentials in the URL, `blocked` for a refused host, `port`
   * for a port that is never called, `insecure` for plain http that is not let through
   */
  checkUrl(url: URL): void {
    if (DEFAULT_PORTS[url.protocol] === undefined || url.username !== '' || url.password !== '') {
      throw new OutboundError('protocol');
    }
    const host = hostOf(url);
    if (host === '' || EMPTY_LABEL.test(host) || METADATA_HOSTS.has(host)) {
      throw new OutboundError('blocked');
    }
    if (isIP(host) !== 0) {
      this.checkAddress(host, { host, port: portOf(url) });
    }
    if (isBadPort(portOf(url))) {
      throw new OutboundError('port');
    }
    if (isPlain(url, this.plainHttp)) {
      throw new OutboundError('insecure');
    }
  }

  /**
   * Checks one resolved address.
   * @param address IPv4 or IPv6 in any notation
   * @param target the host name it was resolved from (or the address itself) and the port about to be dialled
   * @throws OutboundError `blocked`
   */
  checkAddress(address: string, target: { host: string; port: number }): void {
    if (!ipaddr.isValid(address)) {
      throw new OutboundError('blocked');
    }
    const parsed = ipaddr.process(address);
    if (isNeverAllowed(parsed) || !this.isAllowed(parsed, target)) {
      throw new OutboundError('blocked');
    }
  }

  private isAllowed(address: Address, { host, port }: { host: string; port: number }): boolean {
    const range = address.range();
    return (
      isGlobalUnicast(address) ||
      (range === 'loopback' && this.allowLoopback) ||
      this.rules.some((rule) => rule.matches({ address, host, port }))
    );
  }
}

const OWNED = /^([\w.-]{1,64})=(.+)$/;

/** @throws RangeError */
function ownedRule(entry: string): { owner: string | undefined; rule: AllowRule } {
  const [, owner, target = entry] = OWNED.exec(entry) ?? [];
  return { owner, rule: AllowRule.parse(target) };
}

/** Whether a URL is plain http that a rule does not let through. */
export function isPlain(url: URL, rule: PlainHttp): boolean {
  const host = hostOf(url);
  const isHere =
    host === 'localhost' || (ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback');
  return url.protocol === 'http:' && rule !== 'allow' && !(rule === 'loopback' && isHere);
}

/** The host of a URL without brackets and without the trailing dot of a fully qualified name. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}

/** The port a URL dials, also when it is the default one. */
export function portOf(url: URL): number {
  return url.port === '' ? (DEFAULT_PORTS[url.protocol] ?? 0) : Number(url.port);
}

/** IPv6 hands out global unicast addresses from 2000::/3 only (RFC 4291, section 2.4); ipaddr.js calls ::7f00:1 unicast. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

function isGlobalUnicast(address: Address): boolean {
  return address.range() === 'unicast' && (address instanceof ipaddr.IPv4 || address.match(GLOBAL_IPV6));
}

function isNeverAllowed(address: Address): boolean {
  return [address, ...embeddedIpv4(address)].some(
    (candidate) =>
      candidate.range() === 'linkLocal' ||
      METADATA_RANGES.some(
        ([network, bits]) => network.kind() === candidate.kind() && candidate.match(network, bits),
      ),
  );
}

/** Where a transition address carries the IPv4 address that its packets end at: NAT64 (RFC 6052), SIIT, 6to4 (RFC 3056). */
const EMBEDDED_AT: Readonly<Record<string, number>> = { rfc6052: 12, rfc6145: 12, reserved: 12, '6to4': 2 };

function embeddedIpv4(address: Address): Address[] {
  const offset = EMBEDDED_AT[address.range()];
  return address instanceof ipaddr.IPv6 && offset !== undefined
    ? [new ipaddr.IPv4(address.toByteArray().slice(offset, offset + 4))]
    : [];
}
