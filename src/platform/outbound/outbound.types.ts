import type { MessagePort } from 'node:worker_threads';
import type { AddressPolicyOptions } from './address-policy.js';
import type { TlsMaterial } from '../tls/tls-material.js';
import type { ProxyOptions } from './outbound-proxy.js';
import type { OutboundFailure } from './outbound.error.js';

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

/** One job of that thread; what comes of it goes through the port. */
export interface DialJob extends DialOrder {
  readonly port: MessagePort;
}

/** From the thread: the head of the answer, then a chunk of its body for each `next`; undefined is its end. */
export type DialMessage =
  | { readonly status: number; readonly headers: readonly [string, string][] }
  | { readonly chunk: Uint8Array | undefined }
  | { readonly failure: OutboundFailure };

/** To the thread: asks for the next chunk. To end a call its port is closed. */
export type DialQuestion = 'next';
