import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Client } from 'undici';

import { AllowRule } from './allow-rule.js';
import { OutboundError } from './outbound.error.js';

/** Egress proxy of a deployment. Plain data that can be passed to workers. The URL may contain credentials. */
export interface ProxyOptions {
  /** http or https, with `user:password@` if the proxy requires it. */
  readonly url: string;
  /** Trusted CA certificates (PEM). @default the built-in ones */
  readonly ca?: string;
  /** What to request from the proxy: a checked address, or a name that the proxy resolves. */
  readonly target: 'address' | 'name';
  /** Host names, suffixes, addresses and CIDRs that are called without the proxy. */
  readonly direct: readonly string[];
}

/** Maximum size of the response header of CONNECT. */
const MAX_HEAD_BYTES = 16_384;
const AUTHENTICATION_REQUIRED = 407;

/** Opens tunnels through the proxy (RFC 9110, section 9.3.6). */
export class OutboundProxy {
  readonly target: ProxyOptions['target'];
  private readonly origin: string;
  private readonly headers: Record<string, string>;
  private readonly ca: string | undefined;
  private readonly rules: readonly AllowRule[];

  /** @throws RangeError when an entry of `direct` cannot be read */
  constructor({ url, ca, target, direct }: ProxyOptions) {
    const { origin, username, password } = new URL(url);
    this.origin = origin;
    this.target = target;
    this.ca = ca;
    const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    this.headers =
      credentials === ':'
        ? {}
        : { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` };
    this.rules = direct.map((entry) => AllowRule.parse(entry, true));
  }

  /** Reports whether a target is called without the proxy. Address rules match only if the host is an IP literal. */
  bypasses(host: string, port: number): boolean {
    const address = ipaddr.isValid(host) ? ipaddr.process(host) : undefined;
    return this.rules.some((rule) => rule.matches({ address, host, port }));
  }

  /**
   * Opens a connection to `authority` (`host:port`) through the proxy.
   * @param timeoutMs limit for connecting to the proxy and its response together
   * @throws OutboundError `proxy_auth`, `proxy_refused`, `proxy`, `timeout`; the reason of `ends`
   */
  async tunnel(authority: string, timeoutMs: number, ends: AbortSignal): Promise<Socket> {
    const late = AbortSignal.timeout(timeoutMs);
    const client = new Client(this.origin, {
      connect: { timeout: timeoutMs, allowH2: false, ...(this.ca === undefined ? {} : { ca: this.ca }) },
      headersTimeout: 0,
      maxHeaderSize: MAX_HEAD_BYTES,
    });
    try {
      const { statusCode, socket } = await client.connect({
        path: authority,
        headers: { host: authority, ...this.headers },
        signal: AbortSignal.any([late, ends]),
      });
      if (statusCode < 200 || statusCode > 299) {
        socket.on('error', () => undefined).destroy();
        throw new OutboundError(statusCode === AUTHENTICATION_REQUIRED ? 'proxy_auth' : 'proxy_refused');
      }
      return socket as Socket;
    } catch (error) {
      ends.throwIfAborted();
      throw late.aborted
        ? new OutboundError('timeout')
        : error instanceof OutboundError
          ? error
          : new OutboundError('proxy');
    } finally {
      // An open tunnel no longer belongs to the client.
      void client.destroy();
    }
  }
}
