import { PATIENCE_MS } from '../patience.js';
import type {
  ConnectionTestRequest,
  SystemCredentials,
  DiscoveredTool,
} from '../../../src/systems/mcp-connection/model/connection-test.types.js';
import { McpConnectionService } from '../../../src/systems/mcp-connection/mcp-connection.service.js';
import { limitedEnv } from '../limits/limits.js';
import { definitionHash } from '../../../src/platform/json/tool-definition-hash.js';
import { Metrics } from '../../../src/platform/observability/metrics/metrics.js';
import type { ToolCallRequest } from '../../../src/systems/mcp-connection/model/tool-call.types.js';
import { ToolCallsService } from '../../../src/systems/mcp-connection/calls/tool-calls.service.js';

const services: { onModuleDestroy(): unknown }[] = [];
const DEADLINE_MS = 10_000;

/** Creates a connection service in evaluation mode, where loopback is allowed. Stop it with {@link stopServices}. */
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

/** Stops all services created by {@link connectionService} and {@link toolCallsService}. */
export async function stopServices(): Promise<void> {
  await Promise.all(services.splice(0).map((service) => service.onModuleDestroy()));
}

/** Returns a connection test without authentication. */
export function noAuth(
  baseUrl: string,
  overrides: Partial<ConnectionTestRequest> = {},
): ConnectionTestRequest {
  return { baseUrl, credentials: { type: 'NO_AUTH' }, knownToolCount: 0, ...overrides };
}

/** Returns a connection test with a service account, by default the one of the scripted token endpoint. */
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

/** Creates a service that calls tools, in evaluation mode, where loopback is allowed. Stop it with {@link stopServices}. */
export function toolCallsService(
  settings: Record<string, string> = {},
  metrics = new Metrics(),
): ToolCallsService {
  const env = limitedEnv('evaluation', { 'outboundLimits.threadNiceness': '0', ...settings });
  const service = new ToolCallsService(env, metrics);
  services.push(service);
  return service;
}

/** Returns a tool definition as a connection test stores it. */
export function definition(name: string, rest: Partial<DiscoveredTool> = {}): DiscoveredTool {
  return {
    name,
    title: null,
    description: '',
    inputSchema: { type: 'object' },
    outputSchema: null,
    annotations: null,
    ...rest,
  };
}

/** Returns a call of a tool that was reviewed with this definition, without authentication. */
export function callOf(
  baseUrl: string,
  tool: DiscoveredTool,
  overrides: Partial<ToolCallRequest> = {},
): ToolCallRequest {
  return {
    systemId: baseUrl,
    baseUrl,
    credentials: { type: 'NO_AUTH' },
    tool: { name: tool.name, inputSchema: tool.inputSchema, definitionHash: definitionHash(tool) },
    arguments: {},
    deadlineMs: DEADLINE_MS,
    ...overrides,
  };
}
