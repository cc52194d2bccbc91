import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { type Address, AllowRule } from './allow-rule.js';
import { OutboundError } from './outbound.error.js';

/** Ports of other protocols, whose servers might interpret HTTP as their own commands (Fetch Standard, "Port blocking"). */
const BAD_PORTS: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

/** Reports whether `fetch` refuses to call a port. Its own error for that can only be recognized by its message. */
export function isBadPort(port: number): boolean {
  return BAD_PORTS.has(port);
}

/** Which plain http URLs are allowed: none, those on this machine, or all. */
export type PlainHttp = 'refuse' | 'loopback' | 'allow';

/** Validation message for a plain http URL that `PlainHttp` does not allow. */
export const PLAIN_HTTP_RULE = 'must be an https URL: this service calls no plain http (OUTBOUND_HTTP)';

/** Which outside parties a deployment allows the service to call. */
export interface AddressPolicyOptions {
  /** CIDRs, addresses or host names with an optional `:port`. The prefix `APP=` limits an entry to one application. */
  allow: readonly string[];
  /** Whether 127.0.0.0/8 and ::1 are allowed without an entry. */
  allowLoopback: boolean;
  /** @default 'allow' */
  plainHttp?: PlainHttp;
}

/** Empty labels are invalid in DNS, and another resolver might ignore the extra dots. */
const EMPTY_LABEL = /(^|\.)(\.|$)/;

/** Matches an entry for one application, `APP=target`. */
const OWNED = /^([\w.-]{1,64})=(.+)$/;

/** Cloud metadata and platform services that issue credentials. No allow-list entry permits them. */
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
 * Decides which URLs and addresses the service may call, against server-side request forgery (SSRF). The guarded client
 * checks every address and redirect.
 * Always rejected: schemes other than http(s), credentials in a URL, ports of other protocols, link-local addresses and
 * cloud metadata, even when embedded in an IPv6 transition address. Rejected unless listed: every address that is not
 * globally routable unicast.
 */
export class AddressPolicy {
  private readonly rules: readonly AllowRule[];

  /**
   * @param app calling application; without it, entries for applications do not apply
   * @throws RangeError when an entry of `allow` is neither a CIDR nor an address nor a host name
   */
  constructor(
    private readonly options: AddressPolicyOptions,
    private readonly app?: string,
  ) {
    this.rules = options.allow.flatMap((entry) => {
      const [, owner, target = entry] = OWNED.exec(entry) ?? [];
      const rule = AllowRule.parse(target);
      return owner === undefined || owner === app ? [rule] : [];
    });
  }

  /** Returns the policy for the calls of an application, or of no application if undefined. */
  forApp(app: string | undefined): AddressPolicy {
    return app === this.app ? this : new AddressPolicy(this.options, app);
  }

  /**
   * Checks everything about a URL that is known before its host name is resolved.
   * @throws OutboundError `protocol`, `blocked`, `port`, `insecure`
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
    if (isPlain(url, this.options.plainHttp)) {
      throw new OutboundError('insecure');
    }
  }

  /**
   * Checks an address, in any notation, for the host and port that it was resolved for.
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
      (range === 'loopback' && this.options.allowLoopback) ||
      this.rules.some((rule) => rule.matches({ address, host, port }))
    );
  }
}

/** Reports whether a URL is plain http that the rule does not allow. */
export function isPlain(url: URL, rule: PlainHttp = 'allow'): boolean {
  const host = hostOf(url);
  const isHere =
    host === 'localhost' || (ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback');
  return url.protocol === 'http:' && rule !== 'allow' && !(rule === 'loopback' && isHere);
}

/** Returns the host of a URL without brackets and without the trailing dot of a fully qualified name. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}

export function portOf(url: URL): number {
  return url.port === '' ? (DEFAULT_PORTS[url.protocol] ?? 0) : Number(url.port);
}

/** Global unicast addresses are assigned from 2000::/3 only (RFC 4291, section 2.4). ipaddr.js also calls ::7f00:1 unicast. */
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

/** Byte offset of the embedded IPv4 destination in a transition address: NAT64 (RFC 6052), SIIT, 6to4 (RFC 3056). */
const EMBEDDED_AT: Readonly<Record<string, number>> = { rfc6052: 12, rfc6145: 12, reserved: 12, '6to4': 2 };

function embeddedIpv4(address: Address): Address[] {
  const offset = EMBEDDED_AT[address.range()];
  return address instanceof ipaddr.IPv6 && offset !== undefined
    ? [new ipaddr.IPv4(address.toByteArray().slice(offset, offset + 4))]
    : [];
}
