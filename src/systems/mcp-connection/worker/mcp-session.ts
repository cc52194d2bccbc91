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
/** The operation's deadline is the one clock; the library's must never run out before it. */
const NO_TIMEOUT_MS = 2_147_483_647;
/** `server/discover` is asked of servers that may not know it: it gets this long, and this share of the time left. */
const PROBE_MS = 3_000;
const PROBE_SHARE = 1 / 3;

/** Never runs a foreign schema: a pattern or a deep schema could hold the thread for minutes. */
const NO_VALIDATION: jsonSchemaValidator = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};

/** One connection to one MCP server: the client library, with all that a server could abuse in our hands. */
export class McpSession {
  private raw: RawRequests | undefined;

  private constructor(
    private readonly options: McpSessionOptions,
    private readonly client: Client,
    private readonly transport: Transport,
  ) {}

  /** Connects in one of the three ways. @throws what the library throws; see `connectionErrorOf` */
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

  /** Whether the server says that it has tools at all. */
  get offersTools(): boolean {
    return this.client.getServerCapabilities()?.tools !== undefined;
  }

  /** Names of the capabilities of the server. `removal` takes out credentials that it was sent. */
  capabilities(removal: SecretRemoval): string[] {
    const names = Object.keys(this.client.getServerCapabilities() ?? {});
    return names.map((name) => plainText(removal.text(name), MAX_TITLE));
  }

  /** Words of the server about itself, as plain text. `removal` takes out credentials that it was sent. */
  identity(removal: SecretRemoval): ServerIdentity {
    const server = this.client.getServerVersion();
    const plain = (text: string | undefined, max: number): string => plainText(removal.text(text ?? ''), max);
    const title = plain(server?.title, MAX_TITLE) || null;
    return {
      name: plain(server?.name, MAX_TITLE),
      version: plain(server?.version, MAX_TITLE),
      title,
      // Not the instructions: they are written for a model, not for a person who reads a list of systems.
      description: plain(server?.description, MAX_SELF_DESCRIPTION) || (title ?? ''),
    };
  }

  /** Whether {@link identity} cuts what the server says of itself. */
  get isIdentityCut(): boolean {
    const { name, version, title, description } = this.client.getServerVersion() ?? {};
    const isLabelCut = [name, version, title].some((text) => isCut(text, MAX_TITLE));
    return isLabelCut || isCut(description, MAX_SELF_DESCRIPTION);
  }

  /** What another transport needs to go on with this session; only Streamable HTTP can. */
  get facts(): SessionFacts {
    return {
      protocolVersion: this.protocolVersion,
      isModern: this.client.getProtocolEra() === 'modern',
      announcesTools: this.client.getServerCapabilities()?.tools?.listChanged === true,
      sessionId: this.transport instanceof McpHttpTransport ? this.transport.sessionId : undefined,
    };
  }

  /** One raw page of `tools/list`; `''` is a cursor like any other. */
  listPage(cursor: string | undefined): Promise<Record<string, unknown>> {
    return this.request('tools/list', cursor === undefined ? {} : { cursor });
  }

  /**
   * Sends a request past the library's result schemas.
   * @throws what the library throws; see `connectionErrorOf`
   */
  request(
    method: string,
    params: Record<string, unknown>,
    onProgress?: () => void,
  ): Promise<Record<string, unknown>> {
    // Once it is connected: the library has the messages of the handshake.
    this.raw ??= new RawRequests(this.transport, this.options.ids ?? new RequestIds());
    const enveloped = withEnvelope(params, this.facts, this.options.traceparent);
    return this.options.operation.race(this.raw.send(method, enveloped, {}, onProgress));
  }

  /** Closes the connection and leaves the MCP session on the server for {@link facts} to go on with. */
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

/** A session and the way that led to it. */
export interface Connected {
  session: McpSession;
  transport: 'streamable-http' | 'sse';
}

/**
 * Connects to a server of unknown protocol era. Negotiation comes first. The plain 2025 handshake follows when the server
 * cannot cope with a probe: deployed gateways answer 403, 5xx, prose or nothing. HTTP+SSE follows only when POST is answered 404,
 * 405, or 400 without an error of the protocol (MCP 2025-11-25, Backwards Compatibility).
 * @param status receives the HTTP status of every answer
 * @throws what the last attempt threw; where 400 led to HTTP+SSE in vain, what the attempt before it threw
 */
export async function connect(options: McpSessionOptions, status: Traffic): Promise<Connected> {
  let way: ConnectWay = 'auto';
  let badRequest: unknown;
  for (;;) {
    try {
      const session = await McpSession.connect(options, way, status);
      return { session, transport: way === 'sse' ? 'sse' : 'streamable-http' };
    } catch (error) {
      if (await mayAskAgain(way, options, status)) {
        continue;
      }
      const next: ConnectWay | undefined = isOver(way, options, status)
        ? undefined
        : nextWay(way, error, status.latest);
      if (next === undefined) {
        throw badRequest === undefined ? error : forget(status, badRequest);
      }
      badRequest = next === 'sse' && status.latest === BAD_REQUEST ? error : undefined;
      way = next;
    }
  }
}

/** Waits where the server refuses the probe for the moment. */
async function mayAskAgain(way: ConnectWay, options: McpSessionOptions, status: Traffic): Promise<boolean> {
  return way === 'auto' && status.latest === 429 && (await paused(status, options.operation));
}

function isOver(
  way: ConnectWay,
  { operation, credentials }: McpSessionOptions,
  { latest }: Traffic,
): boolean {
  return way === 'sse' || latest === 429 || (operation.failure ?? credentials.failure) !== undefined;
}

/** A server that takes no GET either has refused the POST: that is what its operator must hear of. */
function forget(status: Traffic, badRequest: unknown): unknown {
  status.latest = BAD_REQUEST;
  return badRequest;
}

/** The way to try after a failure, if there is one. */
function nextWay(way: ConnectWay, error: unknown, status: number): ConnectWay | undefined {
  if (status === 404 || status === 405) {
    return 'sse';
  }
  // A time-out of the library is the probe's: nothing else of it has one.
  const isUndecided = error instanceof SdkError && UNDECIDED.has(error.code);
  if (way === 'auto' && (status === 403 || isUndecided)) {
    return 'legacy';
  }
  return status === BAD_REQUEST && !(error instanceof ProtocolError) ? 'sse' : undefined;
}
