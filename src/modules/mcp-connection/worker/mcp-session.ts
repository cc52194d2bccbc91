import {
  type CallToolResult,
  Client,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type FetchLike,
  type Implementation,
  type jsonSchemaValidator,
  PROTOCOL_VERSION_META_KEY,
  SSEClientTransport,
  type Tool,
  TRACEPARENT_META_KEY,
  type Transport,
} from '@modelcontextprotocol/client';

import type { OutboundOperation } from '../../../common/outbound/outbound.operation.js';
import { SERVICE_NAME, SERVICE_VERSION } from '../../../common/service-version.js';
import type { DiscoveredTool, ServerIdentity } from '../connection-test.types.js';
import type { McpCredentials } from './mcp-credentials.js';
import { McpHttpTransport } from './mcp-http.transport.js';
import { plainText } from './plain-text.js';
import { RawRequests } from './raw-requests.js';

/** What a session needs. Everything it sends goes through `operation`. */
export interface McpSessionOptions {
  url: URL;
  operation: OutboundOperation;
  credentials: McpCredentials | undefined;
  /** W3C trace context, already checked. */
  traceparent: string | undefined;
}

/** The part of a tool definition that a call needs. */
export type CallableTool = Pick<DiscoveredTool, 'name' | 'inputSchema'>;

/** How the server is spoken to: negotiated, 2025 handshake at once, or the deprecated HTTP+SSE transport. */
export type ConnectWay = 'auto' | 'legacy' | 'sse';

const CLIENT_INFO: Implementation = { name: SERVICE_NAME, version: SERVICE_VERSION };
const CAPABILITIES: ClientCapabilities = {
  extensions: { 'io.modelcontextprotocol/oauth-client-credentials': {} },
};
const MAX_TITLE = 255;
const MAX_SELF_DESCRIPTION = 2_000;
const FAREWELL_MS = 1_000;
/** The operation's deadline is the one clock; the library's must never run out before it. */
const NO_TIMEOUT_MS = 2_147_483_647;

/** Never runs a foreign schema: a pattern or a deep schema could hold the thread for minutes. */
const NO_VALIDATION: jsonSchemaValidator = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};

/**
 * One connection to one MCP server, in either protocol era. A thin layer over the client library: negotiation and
 * transports are the library's, everything a server could abuse (addresses, sizes, time, result schemas) is ours.
 */
export class McpSession {
  private raw: RawRequests | undefined;

  private constructor(
    private readonly options: McpSessionOptions,
    private readonly client: Client,
    private readonly transport: Transport,
    /** Shared by all attempts to connect: the status of the latest answer, whatever the library made of it. */
    private readonly status: { latest: number },
  ) {}

  /**
   * Connects in one of the three ways.
   * @param status receives the HTTP status of every answer
   * @throws what the library throws; see `causeOf` for the translation
   */
  static async connect(
    options: McpSessionOptions,
    way: ConnectWay,
    status: { latest: number },
  ): Promise<McpSession> {
    const client = new Client(CLIENT_INFO, {
      capabilities: CAPABILITIES,
      versionNegotiation: { mode: way === 'auto' ? 'auto' : 'legacy' },
      jsonSchemaValidator: NO_VALIDATION,
      inputRequired: { autoFulfill: false },
    });
    const transport = createTransport(options, way, status);
    const session = new McpSession(options, client, transport, status);
    const { operation } = options;
    try {
      await operation.race(client.connect(transport, { timeout: NO_TIMEOUT_MS, signal: operation.signal }));
    } catch (error) {
      await session.close();
      throw error;
    }
    session.raw = new RawRequests(transport);
    return session;
  }

  get protocolVersion(): string {
    return plainText(this.client.getNegotiatedProtocolVersion(), MAX_TITLE);
  }

  /** Whether the server says that it has tools at all. */
  get offersTools(): boolean {
    return this.client.getServerCapabilities()?.tools !== undefined;
  }

  /** Names of what the server says it can do. */
  get capabilities(): string[] {
    return Object.keys(this.client.getServerCapabilities() ?? {}).map((name) => plainText(name, MAX_TITLE));
  }

  /** What the server says of itself, as plain text. */
  get identity(): ServerIdentity {
    const server = this.client.getServerVersion();
    const title = plainText(server?.title, MAX_TITLE) || null;
    return {
      name: plainText(server?.name, MAX_TITLE),
      version: plainText(server?.version, MAX_TITLE),
      title,
      // Not the instructions: they are written for a model, not for a person who reads a list of systems.
      description: plainText(server?.description, MAX_SELF_DESCRIPTION) || (title ?? ''),
    };
  }

  /** One raw page of `tools/list`; `''` is a cursor like any other. */
  async listPage(cursor: string | undefined): Promise<Record<string, unknown>> {
    if (this.raw === undefined) {
      throw new TypeError('not connected');
    }
    const params = { ...(cursor === undefined ? {} : { cursor }), ...this.envelope() };
    return this.options.operation.race(this.raw.send('tools/list', params));
  }

  /**
   * Calls a tool. Size and time are bounded by the operation; the result is not checked against `outputSchema`.
   * @param tool the definition as listed; its `x-mcp-header` declarations become headers
   * @throws what the library throws; see `causeOf`
   */
  async callTool(tool: CallableTool, args: Record<string, unknown>): Promise<CallToolResult> {
    const { operation, traceparent } = this.options;
    const meta = traceparent === undefined ? {} : { _meta: { [TRACEPARENT_META_KEY]: traceparent } };
    return operation.race(
      this.client.callTool(
        { name: tool.name, arguments: args, ...meta },
        { timeout: NO_TIMEOUT_MS, signal: operation.signal, toolDefinition: tool as Tool },
      ),
    );
  }

  /** Ends the MCP session on the server, best effort within the deadline, and closes the connection. */
  async close(): Promise<void> {
    const { operation } = this.options;
    if (
      this.transport instanceof McpHttpTransport &&
      this.transport.sessionId !== undefined &&
      !operation.signal.aborted
    ) {
      const farewell = this.transport.terminateSession().catch(() => undefined);
      await operation.race(Promise.race([farewell, sleep(FAREWELL_MS)])).catch(() => undefined);
    }
    await this.client.close().catch(() => undefined);
  }

  /** MCP 2026-07-28: every request says who asks; older revisions know no such envelope. */
  private envelope(): { _meta?: Record<string, unknown> } {
    const { traceparent } = this.options;
    const trace = traceparent === undefined ? {} : { [TRACEPARENT_META_KEY]: traceparent };
    if (this.client.getProtocolEra() !== 'modern') {
      return traceparent === undefined ? {} : { _meta: trace };
    }
    return {
      _meta: {
        ...trace,
        [PROTOCOL_VERSION_META_KEY]: this.protocolVersion,
        [CLIENT_INFO_META_KEY]: CLIENT_INFO,
        [CLIENT_CAPABILITIES_META_KEY]: CAPABILITIES,
      },
    };
  }
}

function createTransport(options: McpSessionOptions, way: ConnectWay, status: { latest: number }): Transport {
  const { url, credentials } = options;
  const shared = {
    fetch: sessionFetch(options, way, status),
    // The guarded fetch follows redirects itself.
    redirectPolicy: 'same-origin' as const,
    ...(credentials === undefined ? {} : { authProvider: credentials }),
  };
  return way === 'sse'
    ? new SSEClientTransport(url, shared)
    : new McpHttpTransport(url, { ...shared, onInsufficientScope: 'throw' });
}

function sessionFetch(options: McpSessionOptions, way: ConnectWay, status: { latest: number }): FetchLike {
  return async (url, init) => {
    const headers = new Headers(init?.headers);
    if (way !== 'sse' && init?.method === 'GET' && !headers.has('last-event-id')) {
      // The stream for messages nobody asked for: of no use here, and one socket saved. 405 means "not offered".
      return new Response(null, { status: 405 });
    }
    if (options.traceparent !== undefined) {
      headers.set('traceparent', options.traceparent);
    }
    const response = await options.operation.fetch(url, { ...init, headers });
    status.latest = response.status;
    return response;
  };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
