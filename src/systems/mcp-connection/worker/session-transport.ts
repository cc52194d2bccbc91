import {
  type FetchLike,
  type JSONRPCMessage,
  type RequestId,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type Implementation,
  PROTOCOL_VERSION_META_KEY,
  TRACEPARENT_META_KEY,
} from '@modelcontextprotocol/client';
import type { OutboundOperation } from '../../../platform/outbound/outbound.operation.js';
import { cleanedResponse, MessageCleaner, type MessageProblem, type SentRequest } from './message-cleaner.js';
import { ConnectionError } from './connection.error.js';
import type { McpCredentials } from './mcp-credentials.js';
import type { RequestIds } from './request-ids.js';
import { noteRefusal, type RateLimit, sentInTime } from './shared-work.js';
import { SERVICE_NAME, SERVICE_VERSION } from '../../../platform/service-version.js';

type SendOptions = Parameters<StreamableHTTPClientTransport['send']>[1];

/** JSON-RPC error code for a request whose stream ended without an answer. Servers do not use it. */
export const STREAM_ENDED = Number.MIN_SAFE_INTEGER;

/** Streamable HTTP transport that detects when the stream of a request ends without an answer. */
export class McpHttpTransport extends StreamableHTTPClientTransport {
  private ended: () => void = () => undefined;
  /** Resolves when the stream of the first request has ended; never if its answer is not a stream. */
  readonly streamEnd = new Promise<void>((resolve) => {
    this.ended = resolve;
  });

  override async send(message: JSONRPCMessage | JSONRPCMessage[], options?: SendOptions): Promise<void> {
    await super.send(message, {
      ...options,
      onRequestStreamEnd: () => {
        options?.onRequestStreamEnd?.();
        this.ended();
        this.rejectUnanswered(message);
      },
    });
  }

  private rejectUnanswered(message: JSONRPCMessage | JSONRPCMessage[]): void {
    if (!Array.isArray(message) && 'method' in message && 'id' in message) {
      const error = { code: STREAM_ENDED, message: 'The stream ended without an answer' };
      this.onmessage?.({ jsonrpc: '2.0', id: message.id, error });
    }
  }
}

/** Options of a session. All its requests go through `operation`. */
export interface McpSessionOptions {
  url: URL;
  operation: OutboundOperation;
  credentials: McpCredentials;
  /** Validated W3C trace context. */
  traceparent: string | undefined;
  /** Whether to open the stream for messages that belong to no request, without resuming it. @default false */
  listens?: boolean;
  /** Request ids shared by the transports of an MCP session. @default own ids */
  ids?: RequestIds;
}

/** How to connect: with negotiation, with the 2025 handshake, or over the deprecated HTTP+SSE transport. */
export type ConnectWay = 'auto' | 'legacy' | 'sse';

/** Facts negotiated with a server when connecting. */
export interface SessionFacts {
  protocolVersion: string;
  /** Protocol 2026-07-28 or newer, in which requests are independent of each other. */
  isModern: boolean;
  /** Whether the server declares that it announces changes of its tool list. */
  announcesTools: boolean;
  /** Id of the MCP session, on servers of older revisions with sessions. */
  sessionId: string | undefined;
}

/** Observed HTTP traffic, independent of how the library interprets it. */
export interface Traffic extends RateLimit, MessageProblem {
  /** HTTP status of the latest answer; 0 before the first. */
  latest: number;
  /** Whether a request was sent, or may have been. */
  posted?: boolean;
  /** HTTP status of the answer to the latest request; 0 before. Resuming a stream and answering the server do not count as requests. */
  requestStatus?: number;
  /** Whether an answer came as an event stream. */
  streams?: boolean;
}

const NO_RECONNECTION = {
  initialReconnectionDelay: 0,
  maxReconnectionDelay: 0,
  reconnectionDelayGrowFactor: 1,
  maxRetries: 0,
};

/** Creates a transport of the library over the guarded fetch. @param traffic receives the observed traffic */
export function createTransport(options: McpSessionOptions, way: ConnectWay, traffic: Traffic): Transport {
  return way === 'sse'
    ? new SSEClientTransport(options.url, shared(options, way, traffic))
    : new McpHttpTransport(options.url, { ...shared(options, way, traffic), onInsufficientScope: 'throw' });
}

/** Creates a transport that continues an MCP session, or the negotiated protocol of a server without sessions. */
export function continuedTransport(
  options: McpSessionOptions,
  { sessionId, protocolVersion }: SessionFacts,
  traffic: Traffic,
): McpHttpTransport {
  return new McpHttpTransport(options.url, {
    ...shared(options, 'auto', traffic),
    ...(options.listens === true ? { reconnectionOptions: NO_RECONNECTION } : {}),
    onInsufficientScope: 'throw',
    protocolVersion,
    ...(sessionId === undefined ? {} : { sessionId }),
  });
}

function shared(options: McpSessionOptions, way: ConnectWay, traffic: Traffic) {
  const { credentials } = options;
  return {
    fetch: sessionFetch(options, way, traffic),
    // The guarded fetch follows redirects itself.
    redirectPolicy: 'same-origin' as const,
    ...(credentials.authProvider === undefined ? {} : { authProvider: credentials.authProvider }),
  };
}

function sessionFetch(options: McpSessionOptions, way: ConnectWay, traffic: Traffic): FetchLike {
  const cleaner = new MessageCleaner(traffic);
  return async (url, init) => {
    const headers = headersOf(options, init);
    const isStream = way !== 'sse' && init?.method === 'GET' && !headers.has('last-event-id');
    if (isStream && options.listens !== true) {
      // The library opens a stream for messages that belong to no request, which only warm sessions need. 405 means "not offered".
      return new Response(null, { status: 405 });
    }
    const request = requestOf(init);
    cleaner.sent(request);
    const sent = async (): Promise<Response> => {
      forgetRefusal(traffic);
      if (request !== undefined) {
        Object.assign(traffic, { posted: true, requestStatus: 0 });
      }
      const response = await options.operation.fetch(url, { ...init, headers });
      traffic.latest = response.status;
      traffic.streams ||= response.headers.get('content-type')?.startsWith('text/event-stream') === true;
      if (request !== undefined) {
        traffic.requestStatus = response.status;
      }
      return cleanedResponse(response, (value) => cleaner.clean(value, request?.id));
    };
    // The library has a short timeout for its probe, so `connect` waits instead.
    const mayWait = init?.method === 'POST' && !isProbe(headers);
    const response = mayWait
      ? await sentInTime(sent, traffic, options.operation, init.signal)
      : noteRefusal(await sent(), traffic, 0);
    return isProbe(headers) ? probeAnswer(response) : response;
  };
}

/** Clears an earlier 429, so that it is not reported if the server becomes unreachable. */
function forgetRefusal(traffic: Traffic): void {
  traffic.retryAfterMs = undefined;
  traffic.latest = traffic.latest === 429 ? 0 : traffic.latest;
}

function isProbe(headers: Headers): boolean {
  return headers.get('mcp-method') === 'server/discover';
}

/**
 * Converts 202 to 400: a server that mistakes the probe for a notification does not support it, and the library would wait for an answer.
 * @throws ConnectionError for 429, which the library would interpret as a server of an older revision
 */
async function probeAnswer(response: Response): Promise<Response> {
  if (response.status !== 202 && response.status !== 429) {
    return response;
  }
  await response.body?.cancel();
  if (response.status === 429) {
    throw new ConnectionError('rate_limited');
  }
  return new Response(null, { status: 400 });
}

function headersOf({ credentials, traceparent }: McpSessionOptions, init: RequestInit | undefined): Headers {
  const headers = new Headers(init?.headers);
  for (const [name, value] of Object.entries(credentials.headers())) {
    headers.set(name, value);
  }
  if (traceparent !== undefined) {
    headers.set('traceparent', traceparent);
  }
  return headers;
}

/** Returns the JSON-RPC request in a message; undefined for notifications and for answers to the server. */
function requestOf(init: RequestInit | undefined): SentRequest | undefined {
  if (init?.method !== 'POST' || typeof init.body !== 'string') {
    return undefined;
  }
  const message = JSON.parse(init.body) as object;
  return 'method' in message && 'id' in message
    ? { method: message.method, id: message.id as RequestId }
    : undefined;
}

/** Name and version that this client declares. */
export const CLIENT_INFO: Implementation = { name: SERVICE_NAME, version: SERVICE_VERSION };

/** Capabilities that this client declares. */
export const CAPABILITIES: ClientCapabilities = {
  extensions: { 'io.modelcontextprotocol/oauth-client-credentials': {} },
};

const TRACEPARENT = /^[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Returns a W3C trace context, or undefined when it is malformed. */
export function checkedTraceparent(traceparent: string | undefined): string | undefined {
  return traceparent !== undefined && TRACEPARENT.test(traceparent) ? traceparent : undefined;
}

/** Adds `_meta` to parameters: the trace context (SEP-414) and, since MCP 2026-07-28, client and protocol version. */
export function withEnvelope(
  params: Record<string, unknown>,
  { isModern, protocolVersion }: SessionFacts,
  traceparent: string | undefined,
): Record<string, unknown> {
  const trace = traceparent === undefined ? {} : { [TRACEPARENT_META_KEY]: traceparent };
  if (isModern) {
    const caller = {
      [PROTOCOL_VERSION_META_KEY]: protocolVersion,
      [CLIENT_INFO_META_KEY]: CLIENT_INFO,
      [CLIENT_CAPABILITIES_META_KEY]: CAPABILITIES,
    };
    return { ...params, _meta: { ...trace, ...caller } };
  }
  return traceparent === undefined ? params : { ...params, _meta: trace };
}
