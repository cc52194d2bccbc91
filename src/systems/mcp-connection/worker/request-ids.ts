import type { JSONRPCNotification } from '@modelcontextprotocol/client';

/** Above every id the client library gives out by itself. */
const FIRST_ID = 1_000_000;

const PROGRESS = 'notifications/progress';

/** Ids of JSON-RPC requests, and tokens of their progress; servers may return them as texts. */
export class RequestIds {
  private latest = FIRST_ID;
  private readonly listeners = new Map<number, () => void>();

  next(): number {
    return (this.latest += 1);
  }

  /** Lets a request hear of its progress until it is forgotten. */
  listen(id: number, onProgress: () => void): void {
    this.listeners.set(id, onProgress);
  }

  forget(id: number): void {
    this.listeners.delete(id);
  }

  /** Takes what a server notifies of. */
  hear({ method, params }: JSONRPCNotification): void {
    if (method === PROGRESS) {
      this.listeners.get(Number(params?.['progressToken']))?.();
    }
  }
}
