import type { AuthProvider } from '@modelcontextprotocol/client';
import type { OutboundOperation } from '../../../platform/outbound/outbound.operation.js';
import type { SecretRemoval } from '../../../platform/secrets/secret-removal.js';
import type { ServiceAccount, SystemCredentials } from '../model/connection-test.types.js';
import { ownHeaders, removalOf } from '../model/sent-secrets.js';
import { ConnectionError } from './connection.error.js';
import type { AccessToken, OAuthTokenClient, TokenRequest } from './oauth-token.client.js';

/** Credentials of one MCP session for its transport: an API key and static headers, if any. */
export class McpCredentials {
  /** Provides the bearer token of the transport. */
  readonly authProvider: AuthProvider | undefined = undefined;
  /** The last token that was used. */
  lastToken: AccessToken | undefined;
  /** Why there is no credential or the server rejected it. Kept here, because libraries in between wrap thrown errors. */
  failure: ConnectionError | undefined;
  /** Number of calls that wait for the token endpoint. */
  waiting = 0;
  private readonly tokens = new Set<string>();
  private known: SecretRemoval | undefined;

  constructor(private readonly credentials: SystemCredentials) {}

  /** Removes credentials sent so far from texts of the server. */
  get removal(): SecretRemoval {
    this.known ??= removalOf(this.credentials, [...this.tokens]);
    return this.known;
  }

  /** Returns the headers of every request. @throws ConnectionError, also kept as `failure`, when one was never set */
  headers(): Record<string, string> {
    const headers = ownHeaders(this.credentials);
    if (headers === undefined) {
      throw this.fail(new ConnectionError('unauthorized'));
    }
    return headers;
  }

  protected remember(token: string): void {
    if (!this.tokens.has(token)) {
      this.tokens.add(token);
      this.known = undefined;
    }
  }

  protected fail(error: unknown): Error {
    if (error instanceof ConnectionError) {
      this.failure = error;
    }
    return error as Error;
  }
}

/** Adds bearer tokens to the requests of one session, and renews the token once when the server rejects it. */
class ServiceAccountCredentials extends McpCredentials implements AuthProvider {
  override readonly authProvider = this;
  private readonly request: TokenRequest;
  private renewed = false;

  constructor(
    account: ServiceAccount & SystemCredentials,
    resource: URL,
    private readonly client: OAuthTokenClient,
    private readonly operation: OutboundOperation,
  ) {
    super(account);
    this.request = { ...account, resource: canonicalResource(resource), tls: operation.tls };
  }

  async token(): Promise<string> {
    this.waiting += 1;
    try {
      this.lastToken = await this.client.get(this.request, this.operation);
      this.remember(this.lastToken.value);
      return this.lastToken.value;
    } catch (error) {
      throw this.fail(error);
    } finally {
      this.waiting -= 1;
    }
  }

  /** Drops the token. The transport repeats the request when this resolves, so it rejects after the first time. */
  onUnauthorized(): Promise<void> {
    if (this.renewed || this.lastToken === undefined) {
      return Promise.reject(this.fail(new ConnectionError('unauthorized')));
    }
    this.renewed = true;
    this.client.drop(this.request, this.lastToken.value);
    return Promise.resolve();
  }
}

/** Returns the resource indicator (RFC 8707, MCP authorization): without fragment and without the slash of an empty path. */
function canonicalResource(url: URL): string {
  const resource = new URL(url);
  resource.hash = '';
  return resource.pathname === '/' && resource.search === '' ? resource.origin : resource.href;
}

/**
 * Creates the credentials of a system for one session.
 * @param resource address of the MCP server for which tokens are requested
 * @param operation its end aborts the wait for a token
 */
export function mcpCredentials(
  credentials: SystemCredentials,
  resource: URL,
  { tokens, operation }: { tokens: OAuthTokenClient; operation: OutboundOperation },
): McpCredentials {
  return credentials.type === 'SERVICE_ACCOUNT'
    ? new ServiceAccountCredentials(credentials, resource, tokens, operation)
    : new McpCredentials(credentials);
}
