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

/** JSON-RPC error code of a request whose answer can no longer come. Servers have no use for it: their own begin at -32,000. */
export const STREAM_ENDED = Number.MIN_SAFE_INTEGER;

/** Streamable HTTP that notices when the stream of a request ends without its answer. */
export class McpHttpTransport extends StreamableHTTPClientTransport {
  private ended: () => void = () => undefined;
  /** Settles when the stream of the first request has ended; never, if its answer is no stream. */
  readonly streamEnd = new Promise<void>((resolve) => {
    this.ended = resolve;
  });

  override async send(message: JSONRPCMessage | JSONRPCMessage[], options?: SendOptions): Promise<void> {
    await super.send(message, {
      ...options,
      onRequestStreamEnd: () => {
        options?.onRequestStreamEnd?.();
        this.ended();
        this.answerInsteadOf(message);
      },
    });
  }

  private answerInsteadOf(message: JSONRPCMessage | JSONRPCMessage[]): void {
    if (!Array.isArray(message) && 'method' in message && 'id' in message) {
      const error = { code: STREAM_ENDED, message: 'The stream ended without an answer' };
      this.onmessage?.({ jsonrpc: '2.0', id: message.id, error });
    }
  }
}

/** What a session needs. Everything it sends goes through `operation`. */
export interface McpSessionOptions {
  url: URL;
  operation: OutboundOperation;
  credentials: McpCredentials;
  /** W3C trace context, already checked. */
  traceparent: string | undefined;
  /** Opens the stream for messages that belong to no request, and does not resume it. @default false */
  listens?: boolean;
  /** Ids that requests of an MCP session have in common. @default ids of its own */
  ids?: RequestIds;
}

/** How the server is spoken to: negotiated, 2025 handshake at once, or the deprecated HTTP+SSE transport. */
export type ConnectWay = 'auto' | 'legacy' | 'sse';

/** What was agreed with a server when connecting. */
export interface SessionFacts {
  protocolVersion: string;
  /** Protocol 2026-07-28 or newer: every request stands for itself. */
  isModern: boolean;
  /** The server says that it announces changes of its list of tools. */
  announcesTools: boolean;
  /** The MCP session of a server of an older revision that keeps one. */
  sessionId: string | undefined;
}

/** Facts that an outside party must not hide: the latest status, and the end of a request. */
export interface Traffic extends RateLimit, MessageProblem {
  /** HTTP status of the latest answer, whatever the library made of it; 0 before the first. */
  latest: number;
  /** Whether a request was sent, or may have been. */
  posted?: boolean;
  /** HTTP status of the answer to the latest request, 0 before. Resuming a stream and answering the server are no requests. */
  requestStatus?: number;
  /** Whether an answer came as an event stream. */
  streams?: boolean;
}

const NEVER_AGAIN = {
  initialReconnectionDelay: 0,
  maxReconnectionDelay: 0,
  reconnectionDelayGrowFactor: 1,
  maxRetries: 0,
};

/** A transport of the library over the guarded fetch. @param traffic receives what is sent and answered */
export function createTransport(options: McpSessionOptions, way: ConnectWay, traffic: Traffic): Transport {
  return way === 'sse'
    ? new SSEClientTransport(options.url, shared(options, way, traffic))
    : new McpHttpTransport(options.url, { ...shared(options, way, traffic), onInsufficientScope: 'throw' });
}

/** A transport that goes on with an MCP session, or with the agreement with a server that keeps none. */
export function continuedTransport(
  options: McpSessionOptions,
  { sessionId, protocolVersion }: SessionFacts,
  traffic: Traffic,
): McpHttpTransport {
  return new McpHttpTransport(options.url, {
    ...shared(options, 'auto', traffic),
    ...(options.listens === true ? { reconnectionOptions: NEVER_AGAIN } : {}),
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
      // The library opens a stream for messages that belong to no request. Only warm sessions have a use for it. 405 means "not offered".
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
    // The library does not wait long for the answer to its probe, so whoever connects waits.
    const mayWait = init?.method === 'POST' && !isProbe(headers);
    const response = mayWait
      ? await sentInTime(sent, traffic, options.operation, init.signal)
      : noteRefusal(await sent(), traffic, 0);
    return isProbe(headers) ? probeAnswer(response) : response;
  };
}

/** A refusal that was waited for says nothing of a server that cannot be reached any more. */
function forgetRefusal(traffic: Traffic): void {
  traffic.retryAfterMs = undefined;
  traffic.latest = traffic.latest === 429 ? 0 : traffic.latest;
}

function isProbe(headers: Headers): boolean {
  return headers.get('mcp-method') === 'server/discover';
}

/**
 * 202 promises no answer, and the library would wait for one: a server that takes the probe for a notification does not know it.
 * @throws ConnectionError for 429, which the library would take for a server of an older revision
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

/** The JSON-RPC request that this sends; undefined for a notification, or an answer to a request of the server. */
function requestOf(init: RequestInit | undefined): SentRequest | undefined {
  if (init?.method !== 'POST' || typeof init.body !== 'string') {
    return undefined;
  }
  const message = JSON.parse(init.body) as object;
  return 'method' in message && 'id' in message
    ? { method: message.method, id: message.id as RequestId }
    : undefined;
}

/** Who this client says it is. */
export const CLIENT_INFO: Implementation = { name: SERVICE_NAME, version: SERVICE_VERSION };

/** What this client says it can do. */
export const CAPABILITIES: ClientCapabilities = {
  extensions: { 'io.modelcontextprotocol/oauth-client-credentials': {} },
};

const TRACEPARENT = /^[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** A W3C trace context, or undefined when it is malformed. */
export function checkedTraceparent(traceparent: string | undefined): string | undefined {
  return traceparent !== undefined && TRACEPARENT.test(traceparent) ? traceparent : undefined;
}

/** Parameters with their `_meta`: the trace context (SEP-414) and, since MCP 2026-07-28, who asks. */
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
