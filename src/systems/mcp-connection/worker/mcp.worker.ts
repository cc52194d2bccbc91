import { METHOD_NOT_FOUND, ProtocolError, preloadSchemas } from '@modelcontextprotocol/client';
import type { SecretRemoval } from '../../../platform/secrets/secret-removal.js';
import type { McpWorkerSettings } from '../model/worker-settings.js';
import { REJECTED_CREDENTIALS } from '../model/connection-failure.types.js';
import {
  type ConnectedResult,
  CONNECTION_WARNINGS,
  type ConnectionTestRequest,
  type ConnectionWarning,
  type FailedResult,
} from '../model/connection-test.types.js';
import { checkedTraceparent, type Traffic } from './session-transport.js';
import { connect, type Connected, type McpSession } from './mcp-session.js';
import { connectionErrorOf } from './failure-cause.js';
import { mcpCredentials, type McpCredentials } from './mcp-credentials.js';
import { outsideClients } from './oauth-token.client.js';
import { readToolList, type ToolList } from './tool-list.reader.js';
import { type MessagePort, workerData } from 'node:worker_threads';
import { serveWorker } from '../../../platform/threads/serve-worker.js';
import type { McpWorkerAnswer, McpWorkerJob } from './worker.messages.js';

const NO_TOOLS: ToolList = { toolsJson: [], rejectedTools: [], toolWarnings: [], isEndless: false };

/** A successful test in the worker, with one JSON document per tool. */
interface ConnectedAnswer extends Omit<ConnectedResult, 'tools'> {
  toolsJson: string[];
}

/** Real lists have at least 20 bytes per element. The minimum keeps small limits usable. */
const BYTES_PER_ELEMENT = 32;
const MIN_ELEMENTS = 16_384;

/** Runs connection tests: connects, reads all tools and disconnects, in one guarded operation. */
export class ConnectionTester {
  private readonly clients: ReturnType<typeof outsideClients>;

  constructor(private readonly settings: McpWorkerSettings) {
    this.clients = outsideClients(settings, settings.limits.testTimeoutMs);
  }

  /** Runs one test within `deadlineMs`. Never throws because of an external party. */
  async test(request: ConnectionTestRequest, deadlineMs: number): Promise<ConnectedAnswer | FailedResult> {
    const startedAt = performance.now();
    const latencyMs = () => Math.round(performance.now() - startedAt);
    const { outbound, tokens } = this.clients;
    const { maxResponseBytes, maxTotalBytes } = this.settings.limits;
    const maxElements = Math.max(MIN_ELEMENTS, maxTotalBytes / BYTES_PER_ELEMENT);
    const limits = { maxResponseBytes, maxTotalBytes, maxElements, deadlineMs };
    const operation = outbound.openWith(limits, request.tls);
    const url = new URL(request.baseUrl);
    const credentials = mcpCredentials(request.credentials, url, { tokens, operation });
    const status: Traffic = { latest: 0 };
    let connected: Connected | undefined;
    try {
      const traceparent = checkedTraceparent(request.traceparent);
      connected = await connect({ url, operation, credentials, traceparent }, status);
      const list = await this.readTools(connected.session, request, () => credentials.removal);
      return { ...describe(connected, list, { request, credentials, status }), latencyMs: latencyMs() };
    } catch (error) {
      const { failure: cause } = connectionErrorOf(error, { operation, credentials, status });
      const outcome = REJECTED_CREDENTIALS.has(cause) ? 'rejected_credentials' : 'unreachable';
      return { outcome, cause, latencyMs: latencyMs() };
    } finally {
      await connected?.session.close();
      await operation.close();
    }
  }

  /** Reads all tools. Reads an empty list again if tools were known, because deployed servers return one while they load. */
  private async readTools(
    session: McpSession,
    { greetOnly, knownToolCount }: ConnectionTestRequest,
    removal: () => SecretRemoval,
  ): Promise<ToolList> {
    if (greetOnly === true) {
      return NO_TOOLS;
    }
    const read = () => readToolList((cursor) => session.listPage(cursor), this.settings.limits, removal);
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

function describe(
  { session, transport }: Connected,
  { toolsJson, rejectedTools, toolWarnings, isEndless }: ToolList,
  context: { request: ConnectionTestRequest; credentials: McpCredentials; status: Traffic },
): Omit<ConnectedAnswer, 'latencyMs'> {
  const { removal } = context.credentials;
  const warnings = [
    ...(transport === 'sse' ? [CONNECTION_WARNINGS.legacyTransport] : []),
    ...(session.offersTools || toolsJson.length > 0 ? [] : [CONNECTION_WARNINGS.noTools]),
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
    protocolVersion: session.protocolVersion,
    transport,
    warnings,
  };
}

function credentialWarnings(
  { baseUrl, credentials: { type, headers, ...rest } }: ConnectionTestRequest,
  { lastToken: token }: McpCredentials,
): ConnectionWarning[] {
  if (type === 'NO_AUTH' && headers === undefined) {
    return [];
  }
  const urls = [baseUrl, ...('tokenUrl' in rest ? [rest.tokenUrl] : [])];
  return [
    ...(token?.way.sendsResource === false ? [CONNECTION_WARNINGS.resourceIgnored] : []),
    ...(token?.noExpiry === true ? [CONNECTION_WARNINGS.noExpiry] : []),
    ...(urls.some((url) => url.startsWith('http:')) ? [CONNECTION_WARNINGS.insecureTransport] : []),
  ];
}

const NEW_LINE = 10;

/** Answer in case of a bug, because a job without an answer waits until its worker is killed. */
const INTERNAL: FailedResult = { outcome: 'unreachable', cause: 'internal', latencyMs: 0 };

async function answer(
  tester: ConnectionTester,
  { id, request, deadlineAt }: McpWorkerJob,
  port: MessagePort,
) {
  const result = await tester.test(request, Math.max(1, deadlineAt - Date.now())).catch(() => INTERNAL);
  if (result.outcome !== 'connected') {
    port.postMessage({ id, failed: result } satisfies McpWorkerAnswer);
    return;
  }
  const { toolsJson, ...connected } = result;
  const tools = encodeLines(toolsJson);
  port.postMessage({ id, connected, tools } satisfies McpWorkerAnswer, [tools.buffer]);
}

/** Encodes lines into one buffer of the final size, because a list can have megabytes and each copy uses memory of the worker. */
function encodeLines(lines: string[]): Uint8Array<ArrayBuffer> {
  const bytes = lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
  const encoded = new Uint8Array(bytes);
  const encoder = new TextEncoder();
  let offset = 0;
  for (const line of lines) {
    offset += encoder.encodeInto(line, encoded.subarray(offset)).written;
    encoded[offset] = NEW_LINE;
    offset += 1;
  }
  return encoded;
}

serveWorker((port) => {
  preloadSchemas();
  const tester = new ConnectionTester(workerData as McpWorkerSettings);
  port.on('message', (job: McpWorkerJob) => void answer(tester, job, port));
});
