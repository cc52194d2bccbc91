import type { ConnectionFailureCause } from '../model/connection-failure.types.js';
import type { ToolCallFailureCause } from '../model/tool-call.types.js';

/** The causes that a party gives by HTTP 429: the server, or the token endpoint. */
export type LimitCause = Extract<ConnectionFailureCause, 'rate_limited' | 'token_busy'>;

/** A connection test that failed for a known cause. The message is the cause: nothing foreign can be in it. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';

  /** @param retryAfterMs how long a {@link LimitCause} asks to wait, in milliseconds */
  constructor(
    readonly failure: ConnectionFailureCause,
    readonly retryAfterMs?: number,
  ) {
    super(failure);
  }

  /** Whether a party limits requests (HTTP 429). */
  get isLimit(): boolean {
    return this.failure === 'rate_limited' || this.failure === 'token_busy';
  }
}

/** A tool call that failed for a known cause. The message is the cause: nothing foreign can be in it. */
export class ToolCallError extends Error {
  override readonly name = 'ToolCallError';
  constructor(readonly failure: ToolCallFailureCause) {
    super(failure);
  }
}
