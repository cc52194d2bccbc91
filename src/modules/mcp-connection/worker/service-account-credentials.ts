import type { AuthProvider } from '@modelcontextprotocol/client';

import type { OutboundOperation } from '../../../common/outbound/outbound.operation.js';
import { SecretRemoval } from '../../../common/secrets/secret-removal.js';
import type { ServiceAccount, SystemCredentials } from '../model/connection-test.types.js';
import { ownHeaders, removalOf } from '../model/sent-secrets.js';
import { ConnectionError } from './connection.error.js';
import type { McpCredentials } from './mcp-credentials.types.js';
import type { AccessToken, OAuthTokenClient, TokenRequest } from './oauth-token.client.js';

/**
 * Puts bearer tokens on the calls of one MCP session and renews the token once when the server refuses it. Failures are
 * kept, because libraries in between reword what they are thrown.
 */
export class ServiceAccountCredentials implements McpCredentials, AuthProvider {
  readonly authProvider = this;
  private readonly request: TokenRequest;
  private latest: AccessToken | undefined;
  private readonly sent = new Set<string>();
  private known: SecretRemoval | undefined;
  private renewed = false;
  private waiting = 0;
  /** Why there is no token, or why the server will not have it. */
  failure: ConnectionError | undefined;

  /**
   * @param resource address of the MCP server, which the token is for
   * @param operation whose end ends the waiting for a token
   */
  constructor(
    private readonly credentials: ServiceAccount & SystemCredentials,
    resource: URL,
    private readonly tokens: OAuthTokenClient,
    private readonly operation: OutboundOperation,
  ) {
    this.request = { ...credentials, resource: canonicalResource(resource), tls: operation.tls };
  }

  /** The token that was used last, with what its endpoint said about it. */
  get lastToken(): AccessToken | undefined {
    return this.latest;
  }

  /** Takes sent credentials out of the words of the server: the client secret, and every token until now. */
  get removal(): SecretRemoval {
    this.known ??= removalOf(this.credentials, [...this.sent]);
    return this.known;
  }

  /** Whether a call waits for the token endpoint at this moment. */
  get isWaiting(): boolean {
    return this.waiting > 0;
  }

  /**
   * The static headers of the system: the transport asks for the token.
   * @throws ConnectionError when a header was never set
   */
  headers(): Record<string, string> {
    const headers = ownHeaders(this.credentials);
    if (headers === undefined) {
      throw this.fail(new ConnectionError('unauthorized'));
    }
    return headers;
  }

  async token(): Promise<string> {
    this.waiting += 1;
    try {
      this.latest = await this.tokens.get(this.request, this.operation);
      this.remember(this.latest.value);
      return this.latest.value;
    } catch (error) {
      throw this.fail(error);
    } finally {
      this.waiting -= 1;
    }
  }

  /** The transport sends the request again when this resolves. Once is enough: a second refusal is an answer. */
  onUnauthorized(): Promise<void> {
    if (this.renewed || this.latest === undefined) {
      return Promise.reject(this.fail(new ConnectionError('unauthorized')));
    }
    this.renewed = true;
    this.tokens.drop(this.request, this.latest.value);
    return Promise.resolve();
  }

  private remember(token: string): void {
    if (!this.sent.has(token)) {
      this.sent.add(token);
      this.known = undefined;
    }
  }

  private fail(error: unknown): Error {
    if (error instanceof ConnectionError) {
      this.failure = error;
    }
    return error as Error;
  }
}

/** RFC 8707 and MCP authorization: no fragment, no trailing slash of an empty path. */
function canonicalResource(url: URL): string {
  const resource = new URL(url);
  resource.hash = '';
  return resource.pathname === '/' && resource.search === '' ? resource.origin : resource.href;
}
