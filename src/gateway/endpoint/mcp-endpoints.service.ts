import type { IncomingMessage, ServerResponse } from 'node:http';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type CallToolResult,
  type McpHttpHandler,
  type Tool,
} from '@modelcontextprotocol/server';
import { cached } from '#engine/support';
import type { JsonObject } from '#engine/json';
import type { Principal } from '../../platform/user/principal.js';
import { Log } from '../../platform/observability/logging/log.js';
import { SERVICE_VERSION } from '../../platform/service-version.js';
import { type GatewayCall, GatewayCallsService } from '../calls/gateway-calls.service.js';
import type { CatalogueTool } from '../catalogue/catalogue.types.js';
import { ToolCatalogueService } from '../catalogue/tool-catalogue.service.js';
import { gatewayLimits } from '../gateway.limits.js';
import { CatalogueEvents } from './catalogue-events.js';

/** `tools`: lists every tool. `search`: lists two tools, one that finds others and one that calls them. */
export type EndpointMode = 'tools' | 'search';

/** A request to the endpoint of an application. */
export interface McpRequest {
  appId: string;
  mode: EndpointMode;
  principal: Principal;
  /** JSON-RPC message. */
  body: unknown;
}

/**
 * Serves MCP over Streamable HTTP, one endpoint per application: revision 2026-07-28, and those of 2025 without sessions. Any replica can
 * serve any request.
 */
@Injectable()
export class McpEndpointsService implements OnModuleDestroy {
  /** Handlers by application and mode; applications without an active build have none. */
  private readonly handlers = new Map<string, McpHttpHandler>();

  constructor(
    private readonly catalogue: ToolCatalogueService,
    private readonly calls: GatewayCallsService,
    private readonly log: Log,
  ) {}

  /** Answers a request. */
  async serve(request: IncomingMessage, response: ServerResponse, call: McpRequest): Promise<void> {
    const { appId, mode } = call;
    const handler = cached(this.handlers, `${mode} ${appId}`, () => this.handlerOf(appId, mode));
    const auth = {
      token: '',
      clientId: call.principal.subject,
      scopes: [],
      extra: { principal: call.principal },
    };
    const serve = toNodeHandler(handler);
    await serve(Object.assign(request, { auth }) as Parameters<typeof serve>[0], response, call.body);
  }

  /** Ends the open subscriptions. */
  async onModuleDestroy(): Promise<void> {
    await Promise.all([...this.handlers.values()].map((handler) => handler.close()));
  }

  private handlerOf(appId: string, mode: EndpointMode): McpHttpHandler {
    const make = mode === 'tools' ? this.toolServer : this.searchServer;
    return createMcpHandler(({ authInfo }) => make(appId, authInfo?.extra?.['principal'] as Principal), {
      bus: new CatalogueEvents(() => this.catalogue.version(appId), gatewayLimits.pollMs),
      maxSubscriptions: gatewayLimits.subscriptions,
      onerror: (error) => this.log.warn('MCP request failed', { errorName: error.name }),
    });
  }

  private readonly toolServer = (appId: string, principal: Principal): Server => {
    const server = new Server(
      { name: `svc-platform: ${appId}`, version: SERVICE_VERSION },
      { capabilities: { tools: { listChanged: true } } },
    );
    server.setRequestHandler('tools/list', async () => ({
      tools: (await this.catalogue.ready(appId)).map(toMcpTool),
    }));
    server.setRequestHandler('tools/call', ({ params }, { mcpReq }) =>
      this.call(principal, { appId, ...callOf(params), signal: mcpReq.signal }),
    );
    return server;
  };

  private readonly searchServer = (appId: string, principal: Principal): Server => {
    const server = new Server(
      { name: `svc-platform: ${appId}`, version: SERVICE_VERSION },
      { capabilities: { tools: {} } },
    );
    server.setRequestHandler('tools/list', () => ({ tools: SEARCH_MODE_TOOLS }));
    server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
      const { name, arguments: args } = callOf(params);
      if (name === SEARCH_TOOL.name) {
        return this.search(appId, args);
      }
      if (name !== CALL_TOOL.name || typeof args['name'] !== 'string') {
        throw invalid(
          name === CALL_TOOL.name ? 'The argument name must be a text.' : `Unknown tool: ${name}`,
        );
      }
      const inner = callOf({ name: args['name'], arguments: args['arguments'] });
      return this.call(principal, { appId, ...inner, signal: mcpReq.signal });
    });
    return server;
  };

  private async call(principal: Principal, call: GatewayCall): Promise<CallToolResult> {
    const result = await this.calls.call(principal, call);
    if (result === undefined) {
      throw invalid(`Unknown tool: ${call.name}`);
    }
    return result;
  }

  private async search(appId: string, { query, limit = DEFAULT_FOUND }: JsonObject): Promise<CallToolResult> {
    if (typeof query !== 'string' || !Number.isInteger(limit) || Number(limit) < 1) {
      throw invalid('The argument query must be a text, and limit a positive integer.');
    }
    const found = await this.catalogue.search(appId, query, Math.min(Number(limit), MOST_FOUND));
    const tools = found.map(toMcpTool);
    return { content: [{ type: 'text', text: JSON.stringify(tools) }], structuredContent: { tools } };
  }
}

/** Tools that `search_tools` returns unless the caller asks for another number. */
const DEFAULT_FOUND = 8;
const MOST_FOUND = 50;

const SEARCH_TOOL: Tool = {
  name: 'search_tools',
  description:
    'Finds tools by words of their names, descriptions and parameters, best match first. Returns their names, descriptions and schemas.',
  inputSchema: {
    type: 'object',
    properties: {
      query: { type: 'string', description: 'Words that describe what the tool should do.' },
      limit: { type: 'integer', minimum: 1, maximum: MOST_FOUND, default: DEFAULT_FOUND },
    },
    required: ['query'],
  },
  annotations: { readOnlyHint: true, idempotentHint: true },
};
const CALL_TOOL: Tool = {
  name: 'call_tool',
  description: `Calls a tool that ${SEARCH_TOOL.name} found.`,
  inputSchema: {
    type: 'object',
    properties: {
      name: { type: 'string', description: `Name of the tool, as returned by ${SEARCH_TOOL.name}.` },
      arguments: { type: 'object', description: 'Arguments that match the input schema of the tool.' },
    },
    required: ['name'],
  },
};
const SEARCH_MODE_TOOLS = [SEARCH_TOOL, CALL_TOOL];

function callOf({
  name,
  arguments: args,
}: {
  name: string;
  arguments?: unknown;
}): Pick<GatewayCall, 'name' | 'arguments'> {
  return { name, arguments: (args ?? {}) as JsonObject };
}

function invalid(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}

function toMcpTool({ name, tool }: CatalogueTool): Tool {
  const { title, description, inputSchema, outputSchema, annotations } = tool;
  return {
    name,
    description,
    inputSchema: inputSchema as Tool['inputSchema'],
    ...(title === null ? {} : { title }),
    ...(outputSchema === null ? {} : { outputSchema }),
    ...(annotations === null ? {} : { annotations }),
  };
}
