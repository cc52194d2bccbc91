import type { AddressPolicyOptions } from './address-policy.js';
import type { TlsMaterial } from '../tls/tls-material.js';
import type { ProxyOptions } from './outbound-proxy.js';

/** How this deployment calls outside parties. Plain data, so that it can go to a worker; no secrets but those of the proxy's URL. */
export interface OutboundSettings {
  readonly policy: AddressPolicyOptions;
  readonly proxy?: ProxyOptions;
  readonly maxRedirects: number;
  readonly connectTimeoutMs: number;
}

/** An answer whose body has not been read yet. Whoever does not read it must destroy it. */
export interface DialledResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: AsyncIterable<Uint8Array> & { destroy(): unknown };
}

/** A request that another thread sends. Plain data. */
export interface DialOrder {
  readonly settings: OutboundSettings;
  readonly tls: TlsMaterial | undefined;
  readonly url: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string | null;
}

/** Another thread that opens connections as these settings say. */
export interface FarConnections {
  readonly thread: {
    dial(order: DialOrder, deadlineMs: number, signal: AbortSignal): Promise<DialledResponse>;
  };
  readonly settings: OutboundSettings;
}
