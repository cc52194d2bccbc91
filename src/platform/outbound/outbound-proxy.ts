import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Client } from 'undici';

import { AllowRule } from './allow-rule.js';
import { OutboundError } from './outbound.error.js';

/** The egress proxy of a deployment. Plain data for workers; the URL can hold credentials. */
export interface ProxyOptions {
  /** http or https, with `user:password@` where the proxy asks for it. */
  readonly url: string;
  /** Certificates (PEM) of its authority. @default the built-in ones */
  readonly ca?: string;
  /** What it is asked for: an address that was judged, or a name that it resolves by itself. */
  readonly target: 'address' | 'name';
  /** Host names, suffixes, addresses and CIDRs that are called without it. */
  readonly direct: readonly string[];
}

/** Bytes of the head of an answer to CONNECT. */
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

  /** Whether a target is called without the proxy. Rules of addresses are for targets that are named by their address. */
  leavesOut(host: string, port: number): boolean {
    const address = ipaddr.isValid(host) ? ipaddr.process(host) : undefined;
    return this.rules.some((rule) => rule.matches({ address, host, port }));
  }

  /**
   * A connection to `authority` (`host:port`) through the proxy.
   * @param timeoutMs for reaching the proxy and for its answer together
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
      // A tunnel is no longer its own.
      void client.destroy();
    }
  }
}
