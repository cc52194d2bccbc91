import { SecretRemoval } from '../../../common/secrets/secret-removal.js';
import type { SystemCredentials } from '../model/connection-test.types.js';
import { ownHeaders, removalOf } from '../model/sent-secrets.js';
import { ConnectionError } from './connection.error.js';
import type { McpCredentials } from './mcp-credentials.types.js';

/** Adds an API key and the static headers of a system to the requests of one MCP session. Sends nothing while one was never set. */
export class HeaderCredentials implements McpCredentials {
  readonly isWaiting = false;
  readonly authProvider = undefined;
  readonly lastToken = undefined;
  readonly removal: SecretRemoval;
  failure: ConnectionError | undefined;

  constructor(private readonly credentials: SystemCredentials) {
    this.removal = removalOf(credentials, []);
  }

  /** @throws ConnectionError when a header was never set */
  headers(): Record<string, string> {
    const headers = ownHeaders(this.credentials);
    if (headers === undefined) {
      this.failure = new ConnectionError('unauthorized');
      throw this.failure;
    }
    return headers;
  }
}
