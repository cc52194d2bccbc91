import {
  Client,
  type jsonSchemaValidator,
  type Transport,
  ProtocolError,
  SdkError,
  SdkErrorCode,
} from '@modelcontextprotocol/client';
import type { SecretRemoval } from '../../../platform/secrets/secret-removal.js';
import { within } from '../../../platform/concurrency/deadline.js';
import type { ServerIdentity } from '../model/connection-test.types.js';
import {
  CAPABILITIES,
  CLIENT_INFO,
  withEnvelope,
  type ConnectWay,
  createTransport,
  McpHttpTransport,
  type McpSessionOptions,
  type SessionFacts,
  type Traffic,
} from './session-transport.js';
import { isCut, plainText } from './plain-text.js';
import { RawRequests } from './mcp-exchange.js';
import { RequestIds } from './request-ids.js';
import { paused } from './shared-work.js';

const MAX_TITLE = 255;
const MAX_SELF_DESCRIPTION = 2_000;
const FAREWELL_MS = 1_000;
/** Disables the timeout of the library, because only the deadline of the operation counts. */
const NO_TIMEOUT_MS = 2_147_483_647;
/** Limits for `server/discover`, which a server may not know: a fixed time and a share of the remaining time. */
const PROBE_MS = 3_000;
const PROBE_SHARE = 1 / 3;

/** Disables validation, because patterns or deep nesting of an untrusted schema could block the thread for minutes. */
const NO_VALIDATION: jsonSchemaValidator = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};

/** One connection to an MCP server: wraps the client library and replaces the parts that a server could abuse. */
export class McpSession {
  private raw: RawRequests | undefined;

  private constructor(
    private readonly options: McpSessionOptions,
    private readonly client: Client,
    private readonly transport: Transport,
  ) {}

  /** Connects in one of the three ways. @throws errors of the library; see `connectionErrorOf` */
  static async connect(options: McpSessionOptions, way: ConnectWay, status: Traffic): Promise<McpSession> {
    const { operation } = options;
    const timeoutMs = Math.min(PROBE_MS, operation.remainingMs * PROBE_SHARE);
    const client = new Client(CLIENT_INFO, {
      capabilities: CAPABILITIES,
      versionNegotiation: way === 'auto' ? { mode: 'auto', probe: { timeoutMs } } : { mode: 'legacy' },
      jsonSchemaValidator: NO_VALIDATION,
      inputRequired: { autoFulfill: false },
    });
    const transport = createTransport(options, way, status);
    const session = new McpSession(options, client, transport);
    try {
      await operation.race(client.connect(transport, { timeout: NO_TIMEOUT_MS, signal: operation.signal }));
    } catch (error) {
      await session.close();
      throw error;
    }
    return session;
  }

  get protocolVersion(): string {
    return plainText(this.client.getNegotiatedProtocolVersion(), MAX_TITLE);
  }

  /** Whether the server declares the `tools` capability. */
  get offersTools(): boolean {
    return this.client.getServerCapabilities()?.tools !== undefined;
  }

  /** Returns the names of the server's capabilities. @param removal removes sent credentials */
  capabilities(removal: SecretRemoval): string[] {
    const names = Object.keys(this.client.getServerCapabilities() ?? {});
    return names.map((name) => plainText(removal.text(name), MAX_TITLE));
  }

  /** Returns the self-description of the server as plain text. @param removal removes sent credentials */
  identity(removal: SecretRemoval): ServerIdentity {
    const server = this.client.getServerVersion();
    const plain = (text: string | undefined, max: number): string => plainText(removal.text(text ?? ''), max);
    const title = plain(server?.title, MAX_TITLE) || null;
    return {
      name: plain(server?.name, MAX_TITLE),
      version: plain(server?.version, MAX_TITLE),
      title,
      // The instructions are not used, because they address a model and not a person who reads a list of systems.
      description: plain(server?.description, MAX_SELF_DESCRIPTION) || (title ?? ''),
    };
  }

  /** Whether {@link identity} truncates the self-description. */
  get isIdentityCut(): boolean {
    const { name, version, title, description } = this.client.getServerVersion() ?? {};
    const isLabelCut = [name, version, title].some((text) => isCut(text, MAX_TITLE));
    return isLabelCut || isCut(description, MAX_SELF_DESCRIPTION);
  }

  /** Facts with which another transport can continue this session. Only possible with Streamable HTTP. */
  get facts(): SessionFacts {
    return {
      protocolVersion: this.protocolVersion,
      isModern: this.client.getProtocolEra() === 'modern',
      announcesTools: this.client.getServerCapabilities()?.tools?.listChanged === true,
      sessionId: this.transport instanceof McpHttpTransport ? this.transport.sessionId : undefined,
    };
  }

  /** Fetches one raw page of `tools/list`; `''` is a valid cursor. */
  listPage(cursor: string | undefined): Promise<Record<string, unknown>> {
    return this.request('tools/list', cursor === undefined ? {} : { cursor });
  }

  /**
   * Sends a request without the library's result schemas.
   * @throws errors of the library; see `connectionErrorOf`
   */
  request(
    method: string,
    params: Record<string, unknown>,
    onProgress?: () => void,
  ): Promise<Record<string, unknown>> {
    // Created after connecting, because the library handles the messages of the handshake.
    this.raw ??= new RawRequests(this.transport, this.options.ids ?? new RequestIds());
    const enveloped = withEnvelope(params, this.facts, this.options.traceparent);
    return this.options.operation.race(this.raw.send(method, enveloped, {}, onProgress));
  }

  /** Closes the connection but keeps the MCP session on the server, to be continued with {@link facts}. */
  async leaveOpen(): Promise<void> {
    await this.client.close().catch(() => undefined);
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
      await operation.race(within(FAREWELL_MS, farewell, () => undefined)).catch(() => undefined);
    }
    await this.client.close().catch(() => undefined);
  }
}

const UNDECIDED: ReadonlySet<string> = new Set([
  SdkErrorCode.EraNegotiationFailed,
  SdkErrorCode.RequestTimeout,
]);

const BAD_REQUEST = 400;

/** A session and its transport. */
export interface Connected {
  session: McpSession;
  transport: 'streamable-http' | 'sse';
}

/**
 * Connects to a server of unknown protocol revision. Tries negotiation first; then the plain 2025 handshake, if the server cannot
 * handle the probe (deployed gateways answer 403, 5xx, prose or nothing); then HTTP+SSE, only if POST gets 404, 405, or 400 without a
 * protocol error (MCP 2025-11-25, Backwards Compatibility).
 * @param status receives the HTTP status of each answer
 * @throws the error of the last attempt, or of the one before if HTTP+SSE was tried because of a 400
 */
export async function connect(options: McpSessionOptions, status: Traffic): Promise<Connected> {
  let way: ConnectWay = 'auto';
  let badRequest: unknown;
  for (;;) {
    try {
      const session = await McpSession.connect(options, way, status);
      return { session, transport: way === 'sse' ? 'sse' : 'streamable-http' };
    } catch (error) {
      if (await mayProbeAgain(way, options, status)) {
        continue;
      }
      const next: ConnectWay | undefined = isOver(way, options, status)
        ? undefined
        : nextWay(way, error, status.latest);
      if (next === undefined) {
        throw badRequest === undefined ? error : restoreBadRequest(status, badRequest);
      }
      badRequest = next === 'sse' && status.latest === BAD_REQUEST ? error : undefined;
      way = next;
    }
  }
}

/** Waits if the server rejected the probe with 429. @returns whether to probe again */
async function mayProbeAgain(way: ConnectWay, options: McpSessionOptions, status: Traffic): Promise<boolean> {
  return way === 'auto' && status.latest === 429 && (await paused(status, options.operation));
}

function isOver(
  way: ConnectWay,
  { operation, credentials }: McpSessionOptions,
  { latest }: Traffic,
): boolean {
  return way === 'sse' || latest === 429 || (operation.failure ?? credentials.failure) !== undefined;
}

/** Restores the error of the POST, which is more useful to the operator of a server that also rejects GET. */
function restoreBadRequest(status: Traffic, badRequest: unknown): unknown {
  status.latest = BAD_REQUEST;
  return badRequest;
}

/** Returns the next way to connect after a failure, if there is one. */
function nextWay(way: ConnectWay, error: unknown, status: number): ConnectWay | undefined {
  if (status === 404 || status === 405) {
    return 'sse';
  }
  // A timeout of the library is that of the probe, the only request that has one.
  const isUndecided = error instanceof SdkError && UNDECIDED.has(error.code);
  if (way === 'auto' && (status === 403 || isUndecided)) {
    return 'legacy';
  }
  return status === BAD_REQUEST && !(error instanceof ProtocolError) ? 'sse' : undefined;
}
