import type { MessagePort } from 'node:worker_threads';
import type { AddressPolicyOptions } from './address-policy.js';
import type { TlsMaterial } from '../tls/tls-material.js';
import type { ProxyOptions } from './outbound-proxy.js';
import type { OutboundFailure } from './outbound.error.js';

/** How a deployment calls outside parties. Plain data that can be passed to a worker. The only secrets are in the proxy URL. */
export interface OutboundSettings {
  readonly policy: AddressPolicyOptions;
  readonly proxy?: ProxyOptions;
  readonly maxRedirects: number;
  readonly connectTimeoutMs: number;
}

/** A response whose body has not been read. The receiver must read or destroy the body. */
export interface DialledResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: AsyncIterable<Uint8Array> & { destroy(): unknown };
}

/** A request for another thread to send. Plain data. */
export interface DialRequest {
  readonly settings: OutboundSettings;
  readonly tls: TlsMaterial | undefined;
  readonly url: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string | null;
}

/** Another thread that opens connections, and the settings it uses. */
export interface ThreadDialer {
  readonly thread: {
    dial(request: DialRequest, deadlineMs: number, signal: AbortSignal): Promise<DialledResponse>;
  };
  readonly settings: OutboundSettings;
}

/** A job of that thread, which sends the response through the port. */
export interface DialJob extends DialRequest {
  readonly port: MessagePort;
}

/** Message from the thread: status and headers first, then one chunk of the body for each `next`; undefined at the end. */
export type DialMessage =
  | { readonly status: number; readonly headers: readonly [string, string][] }
  | { readonly chunk: Uint8Array | undefined }
  | { readonly failure: OutboundFailure };

/** Message to the thread that requests the next chunk. Closing the port aborts the call. */
export type NextChunk = 'next';
