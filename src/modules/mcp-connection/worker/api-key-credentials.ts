import { SecretRemoval } from '../../../common/secrets/secret-removal.js';
import type { ApiKey } from '../model/connection-test.types.js';
import { apiKeyValue, removalOf } from '../model/sent-secrets.js';
import { ConnectionError } from './connection.error.js';
import type { McpCredentials } from './mcp-credentials.types.js';

/** Puts an API key on the calls of one MCP session. One that was never set is a refusal, and nothing is sent. */
export class ApiKeyCredentials implements McpCredentials {
  readonly isWaiting = false;
  readonly authProvider = undefined;
  readonly lastToken = undefined;
  readonly removal: SecretRemoval;
  failure: ConnectionError | undefined;

  constructor(private readonly credentials: ApiKey) {
    this.removal = removalOf(credentials, []);
  }

  /** @throws ConnectionError when there is no key */
  headers(): Record<string, string> {
    if (this.credentials.apiKey === '') {
      this.failure = new ConnectionError('unauthorized');
      throw this.failure;
    }
    return { [this.credentials.headerName]: apiKeyValue(this.credentials) };
  }
}
