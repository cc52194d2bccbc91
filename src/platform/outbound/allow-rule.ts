import ipaddr from 'ipaddr.js';

/** An address as ipaddr.js models it. */
export type Address = ipaddr.IPv4 | ipaddr.IPv6;

type Covers = (address: Address | undefined, host: string) => boolean;

const HOST_NAME =
  /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/;
const BRACKETED = /^\[([^\]]+)\](?::(\d{1,5}))?$/;
const WITH_PORT = /^([^:]+):(\d{1,5})$/;

/** One entry of the list of permitted private targets: the addresses that it covers and, when given, the one port. */
export class AllowRule {
  private constructor(
    private readonly covers: Covers,
    private readonly port: number | undefined,
  ) {}

  /**
   * Reads `10.0.0.0/8`, `10.1.2.3`, `10.1.2.3:8443`, `fd00::/8`, `[fd00::1]:443`, `host.internal` or `host.internal:80`.
   * @param takesSuffixes reads `.internal` and `.internal:80` too
   * @throws RangeError when the entry is none of these; the message quotes it, it is the operator's own text
   */
  static parse(entry: string, takesSuffixes = false): AllowRule {
    const [, target = entry, port] = BRACKETED.exec(entry) ?? WITH_PORT.exec(entry) ?? [];
    const covers = matcherOf(target.toLowerCase(), takesSuffixes);
    if (covers === undefined || (port !== undefined && (Number(port) < 1 || Number(port) > 65_535))) {
      throw new RangeError(`not a CIDR, address or host name with an optional port: ${entry}`);
    }
    return new AllowRule(covers, port === undefined ? undefined : Number(port));
  }

  /** Whether this entry covers `address`, resolved from `host`, on `port`. Without an address it covers names alone. */
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
  // A name of digits and dots alone is a mistyped address, not a host.
  if (HOST_NAME.test(target) && !/^[\d.]+$/.test(target)) {
    return (_address, host) => host === target;
  }
  return undefined;
}
