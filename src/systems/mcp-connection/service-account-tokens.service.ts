import { Injectable, Optional } from '@nestjs/common';
import { configuredOutbound, outboundClient } from '../../platform/outbound/configured-outbound.js';
import type { OutboundOperation } from '../../platform/outbound/outbound.operation.js';
import { DialThread } from '../../platform/outbound/thread/dial-thread.js';
import { Env } from '../../platform/config/env.js';
import { CONNECTION_FAILURES } from './model/connection-failure.types.js';
import { ownHeaders, removalOf } from './model/sent-secrets.js';
import { ConnectionError } from './worker/connection.error.js';
import { OAuthTokenClient, type TokenRequest } from './worker/oauth-token.client.js';
import { mcpLimits } from './mcp.limits.js';

/** Provides access tokens (OAuth 2.0 client credentials), API keys and headers for calls to systems other than MCP servers. */
@Injectable()
export class ServiceAccountTokensService {
  /** See {@link ownHeaders}. */
  readonly ownHeaders = ownHeaders;
  /** See {@link removalOf}. */
  readonly removalOf = removalOf;
  private readonly tokens: OAuthTokenClient;

  constructor(env: Env, @Optional() thread?: DialThread) {
    const outbound = outboundClient(configuredOutbound(env), { thread });
    const bytes = mcpLimits.tokenEndpointMaxBytes;
    const limits = {
      deadlineMs: mcpLimits.testTimeoutMs,
      maxResponseBytes: bytes,
      maxTotalBytes: bytes,
    };
    this.tokens = new OAuthTokenClient(outbound, limits);
  }

  /**
   * Returns a valid token.
   * @param waiter operation that needs it and whose deadline ends the wait
   * @throws ConnectionError, which contains no text of the endpoint
   */
  async get(request: TokenRequest, waiter: OutboundOperation): Promise<string> {
    return (await this.tokens.get(request, waiter)).value;
  }

  /** Returns the fixed sentence for an error of `get`. */
  failureOf(error: unknown): string {
    return CONNECTION_FAILURES[error instanceof ConnectionError ? error.failure : 'token_network'];
  }

  /** Discards a token that was rejected. */
  drop(request: TokenRequest, refused: string): void {
    this.tokens.drop(request, refused);
  }
}
