import type { MessagePort } from 'node:worker_threads';
import type { DialOrder } from '../outbound.types.js';
import type { OutboundFailure } from '../outbound.error.js';

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
