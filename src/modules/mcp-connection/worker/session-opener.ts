import type { RequestId } from '@modelcontextprotocol/client';

import type { OperationLimits, OutboundOperation } from '../../../common/outbound/outbound.operation.js';
import type { TlsMaterial } from '../../../common/tls/tls-material.js';
import { SecretRemoval } from '../../../common/secrets/secret-removal.js';
import { definitionHash } from '../../../common/tool-definition-hash.js';
import type { DiscoveredTool, SystemCredentials } from '../model/connection-test.types.js';
import { connect, type Connected } from './connect.js';
import { connectionErrorOf } from './failure-cause.js';
import { mcpCredentials } from './mcp-credentials.js';
import type { McpCredentials } from './mcp-credentials.types.js';
import { type ExchangeSession, McpExchange } from './mcp-exchange.js';
import type { OAuthTokenClient } from './oauth-token.client.js';
import { ServerStream } from './server-stream.js';
import type { McpSessionOptions, SessionFacts, Traffic } from './session-transport.js';
import type { ToolListLimits } from '../model/tool-list-limits.js';
import { type Cleaning, type FetchPage, readToolList } from './tool-list.reader.js';

/** Where a session leads and with which credentials. */
export interface SessionTarget {
  systemId: string;
  baseUrl: string;
  credentials: SystemCredentials;
  tls?: TlsMaterial;
}

/** An open session as others keep it, with where it leads. */
export interface OpenSession extends ExchangeSession {
  readonly target: SessionTarget;
}

/** What a server agreed to and lists. */
export interface OpenedSession {
  transport: Connected['transport'];
  facts: SessionFacts;
  /** Fingerprints of the listed definitions by name. */
  hashes: ReadonlyMap<string, string>;
  /** When the list was asked for, by performance.now(). */
  listedAt: number;
}

/** What opening takes. */
export interface SessionOpenerOptions {
  tokens: OAuthTokenClient;
  limits: OperationLimits;
  toolList: ToolListLimits;
}

/** Fingerprints that are made before others get their turn. The largest take a millisecond each. */
const SLICE = 16;

/** Connects to servers and reads what tools they list now. */
export class SessionOpener {
  constructor(private readonly options: SessionOpenerOptions) {}

  /** Limits of an operation that opens a session, or reads its tools again. */
  limits(deadlineMs = this.options.limits.deadlineMs): OperationLimits {
    return { ...this.options.limits, deadlineMs };
  }

  /**
   * Connects and reads the tools. A session over Streamable HTTP is left open on the server.
   * @throws ConnectionError
   */
  async open(target: SessionTarget, operation: OutboundOperation): Promise<OpenedSession> {
    const url = new URL(target.baseUrl);
    const credentials = mcpCredentials(target.credentials, url, { ...this.options, operation });
    const status = { latest: 0 };
    const listedAt = performance.now();
    let connected: Connected | undefined;
    try {
      const options = { url, operation, credentials, traceparent: undefined };
      connected = await connect(options, status);
      const { session, transport } = connected;
      const hashes = await this.hashes(
        (cursor) => session.listPage(cursor),
        () => credentials?.removal ?? SecretRemoval.none,
      );
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
   * Reads the tools of an open session again; undefined where that takes a new connection.
   * @throws ConnectionError where requests are limited: those of a new connection would be too
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
    const credentials = this.credentials(session, operation);
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
      const hashes = await this.hashes(fetchPage, () => credentials?.removal ?? SecretRemoval.none);
      return { transport, facts, hashes, listedAt };
    } catch (error) {
      const failure = connectionErrorOf(error, { operation, credentials, status });
      if (failure.isLimit) {
        throw failure;
      }
      return undefined;
    }
  }

  /** Tells a server that its session is over. */
  takeLeave(session: OpenSession, facts: SessionFacts, operation: OutboundOperation): Promise<void> {
    return this.once(session, facts, operation, (exchange) => exchange.endSession());
  }

  /** Tells a server that nobody waits for the answer to a request. */
  cancel(
    session: OpenSession,
    facts: SessionFacts,
    operation: OutboundOperation,
    requestId: RequestId,
  ): Promise<void> {
    return this.once(session, facts, operation, (exchange) =>
      exchange.notify('notifications/cancelled', { requestId, reason: 'Nobody waits for it any more' }),
    );
  }

  /** Opens the stream for what a server sends besides answers; undefined where there can be none. */
  listen(
    session: OpenSession,
    { facts }: OpenedSession,
    open: () => OutboundOperation,
  ): ServerStream | undefined {
    if (facts.isModern ? !facts.announcesTools : facts.sessionId === undefined) {
      return undefined;
    }
    const operation = open();
    const credentials = this.credentials(session, operation);
    const exchange = this.exchange(session, facts, { operation, credentials, listens: true });
    return new ServerStream(facts, exchange, operation);
  }

  private async once(
    session: OpenSession,
    facts: SessionFacts,
    operation: OutboundOperation,
    work: (exchange: McpExchange) => Promise<void>,
  ): Promise<void> {
    const credentials = this.credentials(session, operation);
    const exchange = this.exchange(session, facts, { operation, credentials });
    await work(exchange);
    await exchange.close();
  }

  private credentials({ target }: OpenSession, operation: OutboundOperation): McpCredentials | undefined {
    return mcpCredentials(target.credentials, new URL(target.baseUrl), { ...this.options, operation });
  }

  private exchange(
    session: OpenSession,
    facts: SessionFacts,
    options: Pick<McpSessionOptions, 'operation' | 'credentials' | 'listens'>,
    traffic: Traffic = { latest: 0 },
  ): McpExchange {
    const url = new URL(session.target.baseUrl);
    return new McpExchange({ ...options, url, traceparent: undefined }, { facts, session, traffic });
  }

  private async hashes(fetchPage: FetchPage, removal: Cleaning): Promise<ReadonlyMap<string, string>> {
    const { toolsJson } = await readToolList(fetchPage, this.options.toolList, removal);
    const hashes = new Map<string, string>();
    for (const json of toolsJson) {
      const tool = JSON.parse(json) as DiscoveredTool;
      hashes.set(tool.name, definitionHash(tool));
      if (hashes.size % SLICE === 0) {
        await new Promise((resume) => {
          setImmediate(resume);
        });
      }
    }
    return hashes;
  }
}
