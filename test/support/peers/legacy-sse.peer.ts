import type { IncomingMessage, ServerResponse } from 'node:http';

import { type Peer, readBody, startHttpPeer } from './peer.js';

/** A JSON-RPC message of the client. */
export interface LegacyMessage {
  id?: unknown;
  method?: string;
}

/** Overrides the correct behavior of a scripted HTTP+SSE server. A hook returns true if it has answered the request. */
export interface LegacySseScript {
  /** Runs before anything else. */
  before?(request: IncomingMessage, response: ServerResponse): boolean;
  /** Runs when a client opens a stream; `count` is 1 for the first. */
  stream?(count: number, response: ServerResponse): boolean;
  /** Runs when a message arrives. */
  message?(message: LegacyMessage, post: LegacyPost): boolean;
}

/** A POST request to the scripted server. */
export interface LegacyPost {
  count: number;
  response: ServerResponse;
  /** Stream for all answers of the session. */
  stream: ServerResponse;
}

/** Writes one JSON-RPC message to a stream. */
export function sendEvent(stream: ServerResponse, message: object): void {
  stream.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
}

/** Starts a hand-written server of the deprecated HTTP+SSE transport with one tool, `work`. */
export async function startLegacySse(script: LegacySseScript): Promise<Peer & { streams(): number }> {
  const streams: ServerResponse[] = [];
  let opened = 0;
  const peer = await startHttpPeer((request, response) => {
    if (script.before?.(request, response) === true) {
      return;
    }
    if (request.method === 'GET') {
      opened += 1;
      if (script.stream?.(opened, response) !== true) {
        streams[opened] = response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(`retry: 50\nevent: endpoint\ndata: /mcp?stream=${opened}\n\n`);
      }
    } else {
      void receive(script, streams, request, response);
    }
  }, '/mcp');
  return Object.assign(peer, { streams: () => opened });
}

async function receive(
  script: LegacySseScript,
  streams: ServerResponse[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const count = Number(new URL(request.url ?? '', 'http://peer').searchParams.get('stream'));
  const stream = streams[count];
  const text = await readBody(request);
  if (stream === undefined) {
    response.writeHead(405).end();
    return;
  }
  const message = JSON.parse(text) as LegacyMessage;
  if (script.message?.(message, { count, response, stream }) === true) {
    return;
  }
  response.writeHead(202).end();
  const result = resultOf(message);
  if (result !== undefined) {
    sendEvent(stream, { id: message.id, result });
  }
}

function resultOf({ method }: LegacyMessage): object | undefined {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: '2024-11-05',
        capabilities: { tools: {} },
        serverInfo: { name: 'legacy', version: '1' },
      };
    case 'tools/list':
      return { tools: [{ name: 'work', inputSchema: { type: 'object' } }] };
    case 'tools/call':
      return { content: [{ type: 'text', text: 'done' }] };
    default:
      return undefined;
  }
}
