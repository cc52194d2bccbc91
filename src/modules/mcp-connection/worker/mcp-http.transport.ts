import { type JSONRPCMessage, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

type SendOptions = Parameters<StreamableHTTPClientTransport['send']>[1];

/** JSON-RPC error code of a request whose answer can no longer come. Servers have no use for it: their own begin at -32,000. */
export const STREAM_ENDED = Number.MIN_SAFE_INTEGER;

/**
 * Streamable HTTP that notices when the stream of a request ends without its answer. Without this a request would wait
 * for the whole deadline although the server has hung up.
 */
export class McpHttpTransport extends StreamableHTTPClientTransport {
  private ended: () => void = () => undefined;
  /** Settles when the stream of the first request has ended; never, if its answer is no stream. */
  readonly streamEnd = new Promise<void>((resolve) => {
    this.ended = resolve;
  });

  override async send(message: JSONRPCMessage | JSONRPCMessage[], options?: SendOptions): Promise<void> {
    await super.send(message, {
      ...options,
      onRequestStreamEnd: () => {
        options?.onRequestStreamEnd?.();
        this.ended();
        this.answerInsteadOf(message);
      },
    });
  }

  private answerInsteadOf(message: JSONRPCMessage | JSONRPCMessage[]): void {
    if (!Array.isArray(message) && 'method' in message && 'id' in message) {
      const error = { code: STREAM_ENDED, message: 'The stream ended without an answer' };
      this.onmessage?.({ jsonrpc: '2.0', id: message.id, error });
    }
  }
}
