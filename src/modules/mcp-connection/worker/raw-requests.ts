import type {
  JSONRPCMessage,
  JSONRPCNotification,
  JSONRPCRequest,
  Transport,
} from '@modelcontextprotocol/client';

import { ServerError, serverErrorOf } from './connection.error.js';

interface Pending {
  resolve(result: Record<string, unknown>): void;
  reject(error: unknown): void;
}

/** Above every id the client library gives out by itself. */
const FIRST_ID = 1_000_000;

/** Hears what a server sends besides answers. */
interface ServerMessages {
  onNotification?: (method: string) => void;
  onRequest?: (request: JSONRPCRequest) => void;
}

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

/** Sends JSON-RPC requests past the library's schemas: one malformed tool would cost the list. */
export class RawRequests {
  private readonly pending = new Map<number, Pending>();

  /** @param ids shared by all transports of one MCP session: a server tells its streams apart by them */
  constructor(
    private readonly transport: Transport,
    private readonly ids = new RequestIds(),
    { onNotification, onRequest }: ServerMessages = {},
  ) {
    const forward = transport.onmessage;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the library's transport is no EventTarget
    transport.onmessage = (message, extra) => {
      if ('method' in message && 'id' in message) {
        onRequest?.(message);
      } else if ('method' in message) {
        this.ids.hear(message);
        onNotification?.(message.method);
      }
      if (!this.settle(message)) {
        forward?.(message, extra);
      }
    };
  }

  /**
   * @param onProgress hears of each progress of the request: the server is asked for it then
   * @returns the result object as it came
   * @throws ServerError for a JSON-RPC error, also one with an HTTP status of an error; whatever the transport throws
   */
  send(
    method: string,
    params: Record<string, unknown>,
    options: Parameters<Transport['send']>[1] = {},
    onProgress?: () => void,
  ): Promise<Record<string, unknown>> {
    const id = this.ids.next();
    let sent = params;
    if (onProgress !== undefined) {
      sent = { ...params, _meta: { ...(params['_meta'] as object | undefined), progressToken: id } };
      this.ids.listen(id, onProgress);
    }
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject });
      this.transport.send({ jsonrpc: '2.0', id, method, params: sent }, options).catch((error: unknown) => {
        this.forget(id);
        reject(serverErrorOf(error, id) ?? error);
      });
    });
  }

  /** Ids of the requests that were sent and have no answer. */
  get unanswered(): number[] {
    return [...this.pending.keys()];
  }

  private settle(message: JSONRPCMessage): boolean {
    if ('method' in message || message.id === undefined) {
      return false;
    }
    const id = Number(message.id);
    const pending = this.pending.get(id);
    this.forget(id);
    if (pending === undefined) {
      return false;
    }
    if ('error' in message) {
      pending.reject(new ServerError(message.error.code, message.error.message, true));
    } else {
      pending.resolve(message.result);
    }
    return true;
  }

  private forget(id: number): void {
    this.pending.delete(id);
    this.ids.forget(id);
  }
}
