import type { OutboundOperation } from '../../../common/outbound/outbound.operation.js';
import type { SystemCredentials } from '../model/connection-test.types.js';
import { HeaderCredentials } from './header-credentials.js';
import type { McpCredentials } from './mcp-credentials.types.js';
import type { OAuthTokenClient } from './oauth-token.client.js';
import { ServiceAccountCredentials } from './service-account-credentials.js';

/**
 * The credentials of a system for one session.
 * @param resource address of the MCP server
 * @returns undefined for a system without authentication and headers
 */
export function mcpCredentials(
  credentials: SystemCredentials,
  resource: URL,
  { tokens, operation }: { tokens: OAuthTokenClient; operation: OutboundOperation },
): McpCredentials | undefined {
  if (credentials.type === 'SERVICE_ACCOUNT') {
    return new ServiceAccountCredentials(credentials, resource, tokens, operation);
  }
  const sendsNothing = credentials.type === 'NO_AUTH' && credentials.headers === undefined;
  return sendsNothing ? undefined : new HeaderCredentials(credentials);
}
