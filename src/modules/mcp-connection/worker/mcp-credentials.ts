import type { OutboundOperation } from '../../../common/outbound/outbound.operation.js';
import type { SystemCredentials } from '../model/connection-test.types.js';
import { ApiKeyCredentials } from './api-key-credentials.js';
import type { McpCredentials } from './mcp-credentials.types.js';
import type { OAuthTokenClient } from './oauth-token.client.js';
import { ServiceAccountCredentials } from './service-account-credentials.js';

/**
 * The credentials of a system for one session.
 * @param resource address of the MCP server
 * @returns undefined for a system without authentication
 */
export function mcpCredentials(
  credentials: SystemCredentials,
  resource: URL,
  { tokens, operation }: { tokens: OAuthTokenClient; operation: OutboundOperation },
): McpCredentials | undefined {
  switch (credentials.type) {
    case 'SERVICE_ACCOUNT':
      return new ServiceAccountCredentials(credentials, resource, tokens, operation);
    case 'API_KEY':
      return new ApiKeyCredentials(credentials);
    default:
      return undefined;
  }
}
