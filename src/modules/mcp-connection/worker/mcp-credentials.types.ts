import type { AuthProvider } from '@modelcontextprotocol/client';

import type { SecretRemoval } from '../../../common/secrets/secret-removal.js';
import type { ConnectionError } from './connection.error.js';
import type { AccessToken } from './oauth-token.client.js';

/** The credentials of one MCP session, as its transport uses them. */
export interface McpCredentials {
  /** For what the transport sends as bearer token. */
  readonly authProvider: AuthProvider | undefined;
  /** The token that was used last, with what its endpoint said about it. */
  readonly lastToken: AccessToken | undefined;
  /** Takes what was sent until now out of the words of the server. */
  readonly removal: SecretRemoval;
  /** Whether a call waits for the token endpoint at this moment. */
  readonly isWaiting: boolean;
  /** Why there is no credential, or why the server will not have it. */
  readonly failure: ConnectionError | undefined;
  /**
   * Headers of every request of the session.
   * @throws ConnectionError, which is `failure` from then on
   */
  headers(): Record<string, string>;
}
