import { discoverOAuthServerInfo } from '@modelcontextprotocol/client';

import { AddressPolicy } from '../../src/platform/outbound/address-policy.js';
import { definitionHash } from '../../src/platform/json/tool-definition-hash.js';
import { OutboundClient } from '../../src/platform/outbound/outbound.client.js';
import type { OutboundOperation } from '../../src/platform/outbound/outbound.operation.js';
import type {
  DiscoveredTool,
  SystemCredentials,
} from '../../src/systems/mcp-connection/model/connection-test.types.js';
import { mcpCallLimits, mcpLimits } from '../../src/systems/mcp-connection/mcp.limits.js';
import { ToolCaller } from '../../src/systems/mcp-connection/worker/tool-caller.js';
import { connect } from '../../src/systems/mcp-connection/worker/mcp-session.js';
import { mcpCredentials } from '../../src/systems/mcp-connection/worker/mcp-credentials.js';
import { OAuthTokenClient } from '../../src/systems/mcp-connection/worker/oauth-token.client.js';
import { readToolList } from '../../src/systems/mcp-connection/worker/tool-list.reader.js';

/**
 * The client under test of the official MCP conformance suite: connects, reads the tools and calls some, with the very
 * classes the workers use. Started by the suite with the URL as last argument.
 */
interface ConformanceContext {
  client_id?: string;
  client_secret?: string;
  toolCalls?: { name: string; arguments?: Record<string, unknown> }[];
}

const LIMITS = { deadlineMs: 20_000, maxResponseBytes: 2_097_152, maxTotalBytes: 8_388_608 };
const CALLS: Record<string, ConformanceContext['toolCalls']> = {
  tools_call: [{ name: 'add_numbers', arguments: { a: 5, b: 3 } }],
  'sse-retry': [{ name: 'test_reconnection', arguments: {} }],
};

/** Scenarios that look at the call of every tool that is left after the bad ones. */
const CALL_ALL = new Set(['http-invalid-tool-headers', 'http-standard-headers']);

const url = new URL(process.argv.at(-1) ?? '');
const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? '';
const context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as ConformanceContext;
const policy = { allow: [], allowLoopback: true };
const ways = { maxRedirects: 2, connectTimeoutMs: 5_000 };
const outbound = new OutboundClient({ policy: new AddressPolicy(policy), ...ways });
const caller = new ToolCaller(
  {
    outbound: { policy, ...ways },
    limits: mcpLimits,
    callLimits: { ...mcpCallLimits, connectTimeoutMs: LIMITS.deadlineMs, maxSessions: 1 },
    maxResultValues: 50_000,
    acceptsChanges: false,
  },
  () => undefined,
);

await outbound.run(LIMITS, async (operation) => {
  const stored = await systemCredentials(operation);
  const credentials = mcpCredentials(stored, url, {
    tokens: new OAuthTokenClient(outbound, LIMITS),
    operation,
  });
  const { session } = await connect({ url, operation, credentials, traceparent: undefined }, { latest: 0 });
  const { toolsJson, rejectedTools } = await readToolList((cursor) => session.listPage(cursor), mcpLimits);
  console.log(`${toolsJson.length} tools`, rejectedTools);
  await session.close();
  await callTools(
    stored,
    toolsJson.map((json) => JSON.parse(json) as DiscoveredTool),
  );
});
await caller.close();

/** The interface contract names the token endpoint; the suite does not, so it is discovered here. */
async function systemCredentials(operation: OutboundOperation): Promise<SystemCredentials> {
  const { client_id: clientId, client_secret: clientSecret } = context;
  if (clientId === undefined || clientSecret === undefined) {
    return { type: 'NO_AUTH' };
  }
  const info = await discoverOAuthServerInfo(url, { fetchFn: operation.fetch });
  const tokenUrl = info.authorizationServerMetadata?.token_endpoint ?? '';
  return { type: 'SERVICE_ACCOUNT', clientId, clientSecret, tokenUrl };
}

async function callTools(credentials: SystemCredentials, tools: DiscoveredTool[]): Promise<void> {
  const call = async (tool: DiscoveredTool, args: Record<string, unknown>): Promise<void> => {
    const order = {
      sessionKey: 'conformance',
      systemId: 'conformance',
      baseUrl: url.href,
      credentials,
      tool: { ...tool, definitionHash: definitionHash(tool) },
      arguments: args,
      progressMs: LIMITS.deadlineMs,
      endsAt: Date.now() + LIMITS.deadlineMs,
    };
    const { signal } = new AbortController();
    const outcome = await caller.call(order, {
      deadlineMs: LIMITS.deadlineMs,
      signal,
      onProlonged: () => undefined,
    });
    console.log(tool.name, JSON.stringify(outcome).slice(0, 500));
  };
  const all = tools.map(({ name, inputSchema }) => ({ name, arguments: exampleOf(inputSchema) }));
  const calls = context.toolCalls ?? CALLS[scenario] ?? (CALL_ALL.has(scenario) ? all : []);
  for (const { name, arguments: args = {} } of calls) {
    const tool = tools.find((candidate) => candidate.name === name);
    if (tool !== undefined) {
      await call(tool, args);
    }
  }
  const echo = tools.find(({ name }) => name === 'json_schema_echo');
  const original = tools.find(({ name }) => name !== 'json_schema_echo');
  if (echo !== undefined && original !== undefined) {
    await call(echo, { schema: original.inputSchema });
  }
}

/** A text for every property: what the scenarios' tools ask for. */
function exampleOf({ properties }: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.keys(properties ?? {}).map((name) => [name, 'example']));
}
