import type { OperationLimits, OutboundOperation } from '../../../platform/outbound/outbound.operation.js';
import type { TlsMaterial } from '../../../platform/tls/tls-material.js';
import { definitionHash } from '../../../platform/json/tool-definition-hash.js';
import { yieldEventLoop } from '#engine/support';
import type { DiscoveredTool, SystemCredentials } from '../model/connection-test.types.js';
import type { McpWorkerSettings } from '../model/worker-settings.js';
import { connect, type Connected } from './mcp-session.js';
import { connectionErrorOf } from './failure-cause.js';
import { type McpCredentials, mcpCredentials } from './mcp-credentials.js';
import { type ExchangeSession, McpExchange } from './mcp-exchange.js';
import type { OAuthTokenClient } from './oauth-token.client.js';
import type { McpSessionOptions, SessionFacts, Traffic } from './session-transport.js';
import { type FetchPage, readToolList } from './tool-list.reader.js';

/** Address and credentials of a session. */
export interface SessionTarget {
  systemId: string;
  baseUrl: string;
  credentials: SystemCredentials;
  tls?: TlsMaterial;
}

/** A session with its target. */
export interface OpenSession extends ExchangeSession {
  readonly target: SessionTarget;
}

/** Negotiated facts and listed tools of a server. */
export interface OpenedSession {
  transport: Connected['transport'];
  facts: SessionFacts;
  /** Hashes of the listed definitions, by name. */
  hashes: ReadonlyMap<string, string>;
  /** When the list was requested, as `performance.now()`. */
  listedAt: number;
}

/** Connects to servers and reads their tool lists. */
export class SessionOpener {
  constructor(
    private readonly tokens: OAuthTokenClient,
    private readonly settings: McpWorkerSettings,
  ) {}

  /** Returns the limits of an operation that opens a session or refreshes its tools. */
  limits(deadlineMs = this.settings.callLimits.connectTimeoutMs): OperationLimits {
    const { maxResponseBytes, maxTotalBytes } = this.settings.limits;
    return { deadlineMs, maxResponseBytes, maxTotalBytes };
  }

  /** Connects, reads the tools and keeps the session open on the server. @throws ConnectionError */
  async open({ target, ids }: OpenSession, operation: OutboundOperation): Promise<OpenedSession> {
    const url = new URL(target.baseUrl);
    const credentials = this.credentials(target, operation);
    const status: Traffic = { latest: 0 };
    const listedAt = performance.now();
    let connected: Connected | undefined;
    try {
      connected = await connect({ url, operation, credentials, traceparent: undefined, ids }, status);
      const { session, transport } = connected;
      const hashes = await this.hashes((cursor) => session.listPage(cursor), credentials);
      const { facts } = session;
      await (transport === 'sse' ? session.close() : session.leaveOpen());
      return { transport, facts, hashes, listedAt };
    } catch (error) {
      const failure = connectionErrorOf(error, { operation, credentials, status });
      await connected?.session.close();
      throw failure;
    }
  }

  /**
   * Refreshes the tools of an open session; undefined when that requires a new connection.
   * @throws ConnectionError when the server limits requests, because a new connection would be limited too
   */
  async readAgain(
    session: OpenSession,
    { transport, facts }: OpenedSession,
    operation: OutboundOperation,
  ): Promise<OpenedSession | undefined> {
    if (transport === 'sse') {
      return undefined;
    }
    const listedAt = performance.now();
    const credentials = this.credentials(session.target, operation);
    const status: Traffic = { latest: 0 };
    const fetchPage: FetchPage = async (cursor) => {
      const exchange = this.exchange(session, facts, { operation, credentials }, status);
      try {
        return await exchange.request('tools/list', cursor === undefined ? {} : { cursor });
      } finally {
        await exchange.close();
      }
    };
    try {
      return { transport, facts, hashes: await this.hashes(fetchPage, credentials), listedAt };
    } catch (error) {
      const failure = connectionErrorOf(error, { operation, credentials, status });
      if (failure.isLimit) {
        throw failure;
      }
      return undefined;
    }
  }

  /** Creates an exchange within a session. */
  exchange(
    session: OpenSession,
    facts: SessionFacts,
    options: Pick<McpSessionOptions, 'operation' | 'listens'> & Partial<McpSessionOptions>,
    traffic: Traffic = { latest: 0 },
  ): McpExchange {
    const { target } = session;
    const url = new URL(target.baseUrl);
    const credentials = options.credentials ?? this.credentials(target, options.operation);
    const context = { facts, session, traffic };
    return new McpExchange({ ...options, credentials, url, traceparent: undefined }, context);
  }

  private credentials(target: SessionTarget, operation: OutboundOperation): McpCredentials {
    return mcpCredentials(target.credentials, new URL(target.baseUrl), { tokens: this.tokens, operation });
  }

  private async hashes(
    fetchPage: FetchPage,
    credentials: McpCredentials,
  ): Promise<ReadonlyMap<string, string>> {
    const { toolsJson } = await readToolList(fetchPage, this.settings.limits, () => credentials.removal);
    const hashes = new Map<string, string>();
    // Yields in between, because hashing the largest definitions takes a millisecond each.
    for (const json of toolsJson) {
      const tool = JSON.parse(json) as DiscoveredTool;
      hashes.set(tool.name, definitionHash(tool));
      await yieldEventLoop();
    }
    return hashes;
  }
}
