import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

import { type Peer, readBody, startHttpPeer } from './peer.js';

/** Response type of a RequestListener. */
type ListResponse = ServerResponse & { req: IncomingMessage };

/** Overrides the correct behavior of a scripted MCP server. */
export interface McpScript {
  /** Writes the answer to `tools/list`; `id` and `cursor` are those of the request. */
  list(list: {
    id: unknown;
    cursor: string | undefined;
    response: ServerResponse;
    request: IncomingMessage;
  }): void;
  /** Writes the answer to `tools/call`. @default 400 */
  call?(call: ScriptedCall): void;
  /** Runs when the client opens the stream for server-initiated messages. @default 405 */
  stream?(response: ServerResponse): void;
  /** Runs when the client sends a notification or answers a request of the server. The server accepts the message. */
  receive?(message: ClientMessage): void;
  /** Runs before a message is handled; returns true if it has answered. */
  refuses?(method: string, response: ServerResponse): boolean;
  /** Runs first for each HTTP request; returns true if it has answered. */
  before?(request: IncomingMessage, response: ServerResponse): boolean;
}

/** A response or notification from the client. */
export interface ClientMessage {
  id?: unknown;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: unknown;
}

/** A received `tools/call` request. */
export interface ScriptedCall {
  id: unknown;
  params: { name: string; arguments?: Record<string, unknown>; _meta?: Record<string, unknown> };
  response: ServerResponse;
  request: IncomingMessage;
}

/** A scripted MCP server and the requests it has received. */
export interface ScriptedMcpPeer extends Peer {
  /** JSON-RPC methods (or HTTP methods other than POST) in order of arrival. */
  readonly seen: string[];
}

/**
 * Starts a hand-written MCP server of protocol 2025-11-25 with MCP sessions and JSON answers. The handshake is correct;
 * the script decides what happens from the tool list on.
 */
export async function startScriptedMcp(script: McpScript): Promise<ScriptedMcpPeer> {
  const seen: string[] = [];
  const peer = await startHttpPeer((request, response) => {
    if (script.before?.(request, response) !== true) {
      void answer(script, seen, request, response);
    }
  }, '/mcp');
  return Object.assign(peer, { seen });
}

/** Starts a scripted MCP server that lists these entries, valid or not, on one page. */
export function startToolListPeer(tools: unknown): Promise<ScriptedMcpPeer> {
  return startScriptedMcp({ list: ({ id, response }) => sendResult(response, id, { tools }) });
}

/** Starts a scripted MCP server whose answer to `tools/list` is a pathology. */
export function startListPathology(listener: RequestListener): Promise<ScriptedMcpPeer> {
  return startScriptedMcp({
    list: ({ request, response }) => listener(request, response),
  });
}

/** Sends a JSON-RPC result. */
export function sendResult(response: ServerResponse, id: unknown, result: unknown): void {
  response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ jsonrpc: '2.0', id, result }));
}

async function answer(script: McpScript, seen: string[], request: IncomingMessage, response: ListResponse) {
  if (request.method !== 'POST') {
    seen.push(String(request.method));
    if (request.method === 'GET' && script.stream !== undefined) {
      script.stream(response.writeHead(200, { 'content-type': 'text/event-stream' }));
      response.flushHeaders();
    } else {
      response.writeHead(request.method === 'DELETE' ? 200 : 405).end();
    }
    return;
  }
  const text = await readBody(request);
  if (!text.startsWith('{')) {
    response.writeHead(400).end();
    return;
  }
  const message = JSON.parse(text) as {
    id?: unknown;
    method?: string;
    params?: { cursor?: string } & ScriptedCall['params'];
  };
  seen.push(message.method ?? 'answer');
  if (script.refuses?.(message.method ?? '', response) === true) {
    return;
  }
  if (message.id === undefined || message.method === undefined) {
    script.receive?.(message);
    response.writeHead(202).end();
  } else if (message.method === 'initialize') {
    response.setHeader('mcp-session-id', 'session-1');
    sendResult(response, message.id, {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'scripted', version: '1' },
    });
  } else if (message.method === 'tools/list') {
    script.list({ id: message.id, cursor: message.params?.cursor, request, response });
  } else if (message.method === 'tools/call' && script.call !== undefined) {
    script.call({ id: message.id, params: message.params as ScriptedCall['params'], request, response });
  } else {
    response.writeHead(400).end('Bad Request: no valid session');
  }
}
