import type { JSONRPCNotification } from '@modelcontextprotocol/client';

/** Greater than all ids that the client library assigns. */
const FIRST_ID = 1_000_000;

const PROGRESS = 'notifications/progress';

/** Assigns ids of JSON-RPC requests, also used as progress tokens, and dispatches progress notifications. */
export class RequestIds {
  private latest = FIRST_ID;
  private readonly listeners = new Map<number, () => void>();

  next(): number {
    return (this.latest += 1);
  }

  /** Registers the progress callback of a request until `forget`. */
  listen(id: number, onProgress: () => void): void {
    this.listeners.set(id, onProgress);
  }

  forget(id: number): void {
    this.listeners.delete(id);
  }

  /** Handles a notification of the server. */
  handle({ method, params }: JSONRPCNotification): void {
    if (method === PROGRESS) {
      // Servers may return tokens as texts.
      this.listeners.get(Number(params?.['progressToken']))?.();
    }
  }
}
