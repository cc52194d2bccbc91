import ipaddr from 'ipaddr.js';

/** An address as ipaddr.js models it. */
export type Address = ipaddr.IPv4 | ipaddr.IPv6;

type Covers = (address: Address | undefined, host: string) => boolean;

const HOST_NAME =
  /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/;
const BRACKETED = /^\[([^\]]+)\](?::(\d{1,5}))?$/;
const WITH_PORT = /^([^:]+):(\d{1,5})$/;

/** One entry of an allow-list: the addresses or host names that it covers, and optionally a port. */
export class AllowRule {
  private constructor(
    private readonly covers: Covers,
    private readonly port: number | undefined,
  ) {}

  /**
   * Parses `10.0.0.0/8`, `10.1.2.3`, `10.1.2.3:8443`, `fd00::/8`, `[fd00::1]:443`, `host.internal` or `host.internal:80`.
   * @param takesSuffixes whether to accept `.internal` and `.internal:80` too
   * @throws RangeError for any other entry; the message quotes the entry, which the operator wrote
   */
  static parse(entry: string, takesSuffixes = false): AllowRule {
    const [, target = entry, port] = BRACKETED.exec(entry) ?? WITH_PORT.exec(entry) ?? [];
    const covers = matcherOf(target.toLowerCase(), takesSuffixes);
    if (covers === undefined || (port !== undefined && (Number(port) < 1 || Number(port) > 65_535))) {
      throw new RangeError(`not a CIDR, address or host name with an optional port: ${entry}`);
    }
    return new AllowRule(covers, port === undefined ? undefined : Number(port));
  }

  /** Reports whether the rule covers `address`, resolved from `host`, on `port`. Without an address only host names match. */
  matches({ address, host, port }: { address: Address | undefined; host: string; port: number }): boolean {
    return (this.port === undefined || this.port === port) && this.covers(address, host);
  }
}

function matcherOf(target: string, takesSuffixes: boolean): Covers | undefined {
  if (takesSuffixes && target.startsWith('.')) {
    return (_address, host) => `.${host}`.endsWith(target);
  }
  if (ipaddr.isValidCIDR(target)) {
    const [network, bits] = ipaddr.parseCIDR(target);
    return (address) => address?.kind() === network.kind() && address.match(network, bits);
  }
  if (ipaddr.IPv4.isValidFourPartDecimal(target) || ipaddr.IPv6.isValid(target)) {
    const only = ipaddr.process(target).toNormalizedString();
    return (address) => address?.toNormalizedString() === only;
  }
  // A name of digits and dots only is a mistyped address.
  if (HOST_NAME.test(target) && !/^[\d.]+$/.test(target)) {
    return (_address, host) => host === target;
  }
  return undefined;
}
