import { METHOD_NOT_FOUND, ProtocolError } from '@modelcontextprotocol/client';

import { SecretRemoval } from '../../../common/secrets/secret-removal.js';
import type { ToolListLimits } from '../model/tool-list-limits.js';
import type { OutboundClient } from '../../../common/outbound/outbound.client.js';
import type { OperationLimits, OutboundOperation } from '../../../common/outbound/outbound.operation.js';
import { REJECTED_CREDENTIALS } from '../model/connection-failure.types.js';
import type { ConnectedResult, ConnectionTestRequest, FailedResult } from '../model/connection-test.types.js';
import { CONNECTION_WARNINGS, type ConnectionWarning } from '../model/connection-warning.js';
import { checkedTraceparent } from './client-envelope.js';
import { connect, type Connected } from './connect.js';
import { connectionErrorOf } from './failure-cause.js';
import { mcpCredentials } from './mcp-credentials.js';
import type { McpCredentials } from './mcp-credentials.types.js';
import type { McpSession } from './mcp-session.js';
import type { OAuthTokenClient } from './oauth-token.client.js';
import type { Traffic } from './session-transport.js';
import { type Cleaning, readToolList, type ToolList } from './tool-list.reader.js';

const NO_TOOLS: ToolList = { toolsJson: [], rejectedTools: [], toolWarnings: [], isEndless: false };

/** A successful test as it leaves the worker: tools are still JSON, one document each. */
export interface ConnectedAnswer extends Omit<ConnectedResult, 'tools'> {
  toolsJson: string[];
}

/** Everything of a test that does not change from one to the next. */
export interface ConnectionTesterOptions {
  outbound: OutboundClient;
  tokens: OAuthTokenClient;
  operationLimits: Omit<OperationLimits, 'deadlineMs'>;
  toolListLimits: ToolListLimits;
}

/** Runs connection tests: connect, read all tools, take leave, in one guarded operation. */
export class ConnectionTester {
  constructor(private readonly options: ConnectionTesterOptions) {}

  /** Never throws for anything an outside party does, and ends within `deadlineMs`. */
  async test(request: ConnectionTestRequest, deadlineMs: number): Promise<ConnectedAnswer | FailedResult> {
    const startedAt = performance.now();
    const latencyMs = () => Math.round(performance.now() - startedAt);
    const limits = { ...this.options.operationLimits, deadlineMs };
    const operation = this.options.outbound.openWith(limits, request.tls);
    const url = new URL(request.baseUrl);
    const credentials = mcpCredentials(request.credentials, url, {
      tokens: this.options.tokens,
      operation,
    });
    const status: Traffic = { latest: 0 };
    const removal = () => credentials?.removal ?? SecretRemoval.none;
    let connected: Connected | undefined;
    try {
      const traceparent = checkedTraceparent(request.traceparent);
      connected = await connect({ url, operation, credentials, traceparent }, status);
      const list =
        request.greetOnly === true
          ? NO_TOOLS
          : await this.readTools(connected.session, request.knownToolCount, removal);
      return { ...describe(connected, list, { request, credentials, status }), latencyMs: latencyMs() };
    } catch (error) {
      const { failure: cause } = connectionErrorOf(error, { operation, credentials, status });
      const outcome = REJECTED_CREDENTIALS.has(cause) ? 'rejected_credentials' : 'unreachable';
      return { outcome, cause, latencyMs: latencyMs() };
    } finally {
      await leave(connected?.session, operation);
    }
  }

  /** An empty list where tools were known is read again: deployed servers answer one while they still load. */
  private async readTools(session: McpSession, knownToolCount: number, removal: Cleaning): Promise<ToolList> {
    const read = () =>
      readToolList((cursor) => session.listPage(cursor), this.options.toolListLimits, removal);
    try {
      const list = await read();
      const isEmpty = list.toolsJson.length === 0 && list.rejectedTools.length === 0;
      return isEmpty && knownToolCount > 0 ? await read() : list;
    } catch (error) {
      const noTools = error instanceof ProtocolError && error.code === METHOD_NOT_FOUND;
      if (noTools && !session.offersTools) {
        return NO_TOOLS;
      }
      throw error;
    }
  }
}

async function leave(session: McpSession | undefined, operation: OutboundOperation): Promise<void> {
  await session?.close();
  await operation.close();
}

function describe(
  { session, transport }: Connected,
  { toolsJson, rejectedTools, toolWarnings, isEndless }: ToolList,
  context: { request: ConnectionTestRequest; credentials: McpCredentials | undefined; status: Traffic },
): Omit<ConnectedAnswer, 'latencyMs'> {
  const removal = context.credentials?.removal;
  const { protocolVersion } = session;
  const warnings = [
    ...(transport === 'sse' ? [CONNECTION_WARNINGS.legacyTransport] : []),
    ...(session.offersTools ? [] : [CONNECTION_WARNINGS.noTools]),
    ...(session.isIdentityCut ? [CONNECTION_WARNINGS.identityCut] : []),
    ...(context.status.waited === true ? [CONNECTION_WARNINGS.rateLimited] : []),
    ...(isEndless ? [CONNECTION_WARNINGS.endlessList] : []),
    ...credentialWarnings(context.request, context.credentials),
  ];
  return {
    outcome: 'connected',
    toolsJson,
    rejectedTools,
    toolWarnings,
    server: session.identity(removal),
    capabilities: session.capabilities(removal),
    protocolVersion,
    transport,
    warnings,
  };
}

function credentialWarnings(
  { baseUrl, credentials: { type, headers, ...rest } }: ConnectionTestRequest,
  credentials: McpCredentials | undefined,
): ConnectionWarning[] {
  if (type === 'NO_AUTH' && headers === undefined) {
    return [];
  }
  const token = credentials?.lastToken;
  const urls = [baseUrl, ...('tokenUrl' in rest ? [rest.tokenUrl] : [])];
  return [
    ...(token?.way.sendsResource === false ? [CONNECTION_WARNINGS.resourceIgnored] : []),
    ...(token?.noExpiry === true ? [CONNECTION_WARNINGS.noExpiry] : []),
    ...(urls.some((url) => url.startsWith('http:')) ? [CONNECTION_WARNINGS.insecureTransport] : []),
  ];
}
