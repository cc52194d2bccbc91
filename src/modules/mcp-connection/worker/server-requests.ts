import { type JSONRPCRequest, METHOD_NOT_FOUND, type Transport } from '@modelcontextprotocol/client';

/** Answers under way at once; a server that floods a stream with requests gets no more. */
const MAX_ANSWERS = 16;

/**
 * Answers the requests that a server of the 2025 revisions sends: `ping`, and that this client knows no other method (JSON-RPC
 * 2.0, section 5.1). Without an answer the server waits, and with it the call that it serves.
 */
export class ServerRequests {
  private underWay = 0;

  constructor(private readonly transport: Pick<Transport, 'send'>) {}

  /** Sends the answer, best effort. */
  answer({ id, method }: JSONRPCRequest): void {
    if (this.underWay >= MAX_ANSWERS) {
      return;
    }
    this.underWay += 1;
    const answer =
      method === 'ping' ? { result: {} } : { error: { code: METHOD_NOT_FOUND, message: 'Method not found' } };
    void this.transport
      .send({ jsonrpc: '2.0', id, ...answer })
      .catch(() => undefined)
      .finally(() => {
        this.underWay -= 1;
      });
  }
}
