import { LIGHT_BYTES, type OutboundOperation } from '../../../common/outbound/outbound.operation.js';
import type { McpExchange } from './mcp-exchange.js';
import type { SessionFacts } from './session-transport.js';

/** Bounds of the stream: it lives as long as its session, and ends when the server has sent this much. */
export const STREAM_LIMITS = {
  deadlineMs: 2_147_483_647,
  maxResponseBytes: LIGHT_BYTES,
  maxTotalBytes: LIGHT_BYTES,
};

/**
 * The stream on which a server of the 2025 revisions sends what belongs to no request of ours (Streamable HTTP, "Listening for
 * Messages from the Server"). Some servers send requests on it that the tool of a call waits for. One of 2026-07-28 announces on it that
 * its list of tools has changed (`subscriptions/listen`).
 */
export class ServerStream {
  /** Settles when the server has answered, whether it offers the stream or not. */
  readonly answered: Promise<void>;
  private isOver = false;

  /** @param facts the session that it belongs to */
  constructor(
    readonly facts: SessionFacts,
    private readonly exchange: McpExchange,
    private readonly operation: OutboundOperation,
  ) {
    this.answered = exchange.listen(() => {
      this.isOver = true;
    });
  }

  /** Whether there is nothing to do for this session: the stream is open, being opened, or not offered. */
  isFor(facts: SessionFacts): boolean {
    return this.facts === facts && !this.isOver;
  }

  async close(): Promise<void> {
    await this.exchange.close();
    await this.operation.close();
  }
}
