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

/** Access tokens of service accounts (OAuth 2.0 client credentials) and what else is sent, for calls of systems that are no MCP servers. */
@Injectable()
export class ServiceAccountTokensService {
  /** The API key and the static headers of a system; undefined when one of them was never set. */
  readonly ownHeaders = ownHeaders;
  /** Takes sent credentials out of an answer: the secret of a client, its Basic credentials, and these. */
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
   * A usable token.
   * @param waiter the operation that needs it; its deadline ends the waiting
   * @throws ConnectionError, which says nothing of what the endpoint said
   */
  async get(request: TokenRequest, waiter: OutboundOperation): Promise<string> {
    return (await this.tokens.get(request, waiter)).value;
  }

  /** A sentence of a fixed list about why `get` has no token. */
  failureOf(error: unknown): string {
    return CONNECTION_FAILURES[error instanceof ConnectionError ? error.failure : 'token_network'];
  }

  /** Never again gives out a token that was refused. */
  drop(request: TokenRequest, refused: string): void {
    this.tokens.drop(request, refused);
  }
}
