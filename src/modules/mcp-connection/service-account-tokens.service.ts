import { Injectable } from '@nestjs/common';
import { configuredPolicy } from '../../common/outbound/configured-policy.js';
import { AddressPolicy } from '../../common/outbound/address-policy.js';
import { OutboundClient } from '../../common/outbound/outbound.client.js';
import type { OutboundOperation } from '../../common/outbound/outbound.operation.js';
import type { SecretRemoval } from '../../common/secrets/secret-removal.js';
import { Env } from '../../config/env.js';
import type { SystemCredentials } from './model/connection-test.types.js';
import { removalOf } from './model/sent-secrets.js';
import { OAuthTokenClient, type TokenRequest } from './worker/oauth-token.client.js';

/** Access tokens of service accounts (OAuth 2.0 client credentials), for calls of systems that are no MCP servers. */
@Injectable()
export class ServiceAccountTokensService {
  private readonly tokens: OAuthTokenClient;

  constructor(env: Env) {
    const outbound = new OutboundClient({
      policy: new AddressPolicy(configuredPolicy(env)),
      maxRedirects: env.get('EGRESS_MAX_REDIRECTS'),
      connectTimeoutMs: env.get('EGRESS_CONNECT_TIMEOUT_MS'),
    });
    const bytes = env.get('TOKEN_ENDPOINT_MAX_BYTES');
    this.tokens = new OAuthTokenClient(outbound, {
      deadlineMs: env.get('MCP_TEST_TIMEOUT_MS'),
      maxResponseBytes: bytes,
      maxTotalBytes: bytes,
    });
  }

  /**
   * A usable token.
   * @param waiter the operation that needs it; its deadline ends the waiting
   * @throws ConnectionError, which says nothing of what the endpoint said
   */
  async get(request: TokenRequest, waiter: OutboundOperation): Promise<string> {
    return (await this.tokens.get(request, waiter)).value;
  }

  /** Takes out of an answer what was sent for it: the secret of a client, its Basic credentials, and these. */
  removalOf(credentials: SystemCredentials, sent: readonly string[]): SecretRemoval {
    return removalOf(credentials, sent);
  }

  /** Never again gives out a token that was refused. */
  drop(request: TokenRequest, refused: string): void {
    this.tokens.drop(request, refused);
  }
}
