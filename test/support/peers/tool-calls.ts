import { Env } from '../../../src/config/env.js';
import { definitionHash } from '../../../src/common/tool-definition-hash.js';
import { Metrics } from '../../../src/common/metrics/metrics.js';
import type { DiscoveredTool } from '../../../src/modules/mcp-connection/model/connection-test.types.js';
import type { ToolCallRequest } from '../../../src/modules/mcp-connection/model/tool-call.types.js';
import { ToolCallsService } from '../../../src/modules/mcp-connection/calls/tool-calls.service.js';
import { limitedEnv } from '../limits/limits.js';

const services: ToolCallsService[] = [];
const DEADLINE_MS = 10_000;

/** A service that calls tools, in evaluation mode (loopback allowed), with these settings; see {@link stopToolCalls}. */
export function toolCallsService(
  settings: Record<string, string> = {},
  metrics = new Metrics(),
): ToolCallsService {
  const service = new ToolCallsService(envOf(settings), metrics);
  services.push(service);
  return service;
}

function envOf(settings: Record<string, string>): Env {
  return limitedEnv('evaluation', { 'outboundLimits.threadNiceness': '0', ...settings });
}

/** Stops every service started by {@link toolCallsService}. */
export async function stopToolCalls(): Promise<void> {
  await Promise.all(services.splice(0).map((service) => service.onModuleDestroy()));
}

/** A definition as it is stored after a test of a server that lists it so. */
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

/** A call of a tool as it was reviewed, without authentication. */
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
