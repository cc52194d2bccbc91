import { PATIENCE_MS } from '../patience.js';
import type {
  ConnectionTestRequest,
  SystemCredentials,
} from '../../../src/modules/mcp-connection/model/connection-test.types.js';
import { McpConnectionService } from '../../../src/modules/mcp-connection/mcp-connection.service.js';
import { limitedEnv } from '../limits/limits.js';

const services: McpConnectionService[] = [];

/** A connection service in evaluation mode (loopback allowed) with these settings; see {@link stopServices}. */
export function connectionService(settings: Record<string, string> = {}): McpConnectionService {
  const service = new McpConnectionService(
    limitedEnv('evaluation', {
      'outboundLimits.threadNiceness': '0',
      'mcpLimits.testTimeoutMs': String(PATIENCE_MS),
      ...settings,
    }),
  );
  services.push(service);
  return service;
}

/** Stops every service started by {@link connectionService}. */
export async function stopServices(): Promise<void> {
  await Promise.all(services.splice(0).map((service) => service.onModuleDestroy()));
}

/** A request without authentication. */
export function noAuth(
  baseUrl: string,
  overrides: Partial<ConnectionTestRequest> = {},
): ConnectionTestRequest {
  return { baseUrl, credentials: { type: 'NO_AUTH' }, knownToolCount: 0, ...overrides };
}

/** A request with a service account, by default that of the scripted token endpoint. */
export function serviceAccount(
  baseUrl: string,
  tokenUrl: string,
  client: Partial<Extract<SystemCredentials, { type: 'SERVICE_ACCOUNT' }>> = {},
): ConnectionTestRequest {
  const credentials = {
    type: 'SERVICE_ACCOUNT' as const,
    clientId: 'client',
    clientSecret: 'secret',
    tokenUrl,
    ...client,
  };
  return { baseUrl, credentials, knownToolCount: 0 };
}
