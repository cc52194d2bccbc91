import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';

import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import { McpServer } from '@modelcontextprotocol/server';
import { afterAll, describe, expect, it, vi } from 'vitest';

import { keptPeers } from '../../support/peers/kept-peers.js';
import { sendEvent, startLegacySse } from '../../support/peers/legacy-sse.peer.js';
import { type Peer, startHttpPeer } from '../../support/peers/peer.js';
import {
  type ClientMessage,
  type McpScript,
  sendResult,
  startScriptedMcp,
} from '../../support/peers/scripted-mcp.peer.js';
import { callOf, definition, stopServices, toolCallsService } from '../../support/peers/mcp-services.js';

const WORK = definition('work');
const LISTED = [{ name: 'work', inputSchema: { type: 'object' } }];
const UNKNOWN = { error: { code: -32_601, message: 'Method not found' } };
const REQUESTS = [
  ['ping', { result: {} }],
  ['roots/list', UNKNOWN],
  ['sampling/createMessage', UNKNOWN],
  ['elicitation/create', UNKNOWN],
] as const;
const keep = keptPeers();
const listing: McpScript = { list: ({ id, response }) => sendResult(response, id, { tools: LISTED }) };

/** Returns a tool that sends a request on the stream that `ask` opens, and returns the answer as its result. */
function asking(ask: (call: { response: ServerResponse }) => ServerResponse, method: string) {
  let finish: ((answer: ClientMessage) => void) | undefined;
  return {
    call: ({ id, response }: { id: unknown; response: ServerResponse }) => {
      finish = (answer) => {
        const text = JSON.stringify(answer);
        sendEvent(response, { id, result: { content: [{ type: 'text', text }] } });
        response.end();
      };
      const params = method === 'ping' ? {} : { params: { messages: [], maxTokens: 1 } };
      sendEvent(ask({ response }), { id: 'asked', method, ...params });
    },
    receive: (message: ClientMessage) => {
      if (message.id === 'asked') {
        finish?.(message);
      }
    },
  };
}

/** Starts a server of the official package, whose tool sends requests on the streams of its call and of the session. */
async function startAskingServer(): Promise<Peer> {
  const server = new McpServer({ name: 'asking', version: '1' }, { capabilities: { tools: {} } });
  const said = (asked: Promise<unknown>): Promise<string> =>
    asked.then(
      () => 'pong',
      (error: { code: number }) => String(error.code),
    );
  server.registerTool('work', {}, async ({ mcpReq }) => {
    const answers = [
      await said(mcpReq.send({ method: 'ping' })),
      await said(mcpReq.send({ method: 'roots/list' })),
      await said(server.server.ping()),
      await said(server.server.listRoots()),
    ];
    return { content: [{ type: 'text', text: answers.join(', ') }] };
  });
  const transport = new NodeStreamableHTTPServerTransport({ sessionIdGenerator: randomUUID });
  await server.connect(transport);
  return startHttpPeer((request, response) => void transport.handleRequest(request, response), '/mcp');
}

describe('Requests of a server of the 2025 revisions while a tool is called', () => {
  const calls = toolCallsService({ TOOL_CHANGE_POLICY: 'accept' });
  afterAll(stopServices);

  async function answerHeard(url: string): Promise<unknown> {
    const result = await calls.callTool(callOf(url, WORK));
    expect(result).toMatchObject({ outcome: 'answered', isError: false });
    return JSON.parse(result.outcome === 'answered' ? result.text : '');
  }

  it.each(REQUESTS)('%s is answered on the stream of the call', async (method, answer) => {
    const streaming = { 'content-type': 'text/event-stream' };
    const tool = asking(({ response }) => response.writeHead(200, streaming), method);
    const peer = await keep(startScriptedMcp({ ...listing, ...tool }));
    expect(await answerHeard(peer.url)).toEqual({ jsonrpc: '2.0', id: 'asked', ...answer });
  });

  it.each(REQUESTS)('%s is answered on the stream of the session', async (method, answer) => {
    let stream: ServerResponse | undefined;
    const tool = asking(({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return stream!;
    }, method);
    const peer = await keep(
      startScriptedMcp({ ...listing, ...tool, stream: (response) => void (stream = response) }),
    );
    expect(await answerHeard(peer.url)).toEqual({ jsonrpc: '2.0', id: 'asked', ...answer });
  });

  it.each(REQUESTS)('%s is answered on a stream that was resumed', async (method, answer) => {
    const streaming = { 'content-type': 'text/event-stream' };
    const tool = asking(({ response }) => response, method);
    let call: { id: unknown } | undefined;
    const peer = await keep(
      startScriptedMcp({
        ...listing,
        receive: tool.receive,
        call: (lost) => {
          call = lost;
          lost.response.writeHead(200, streaming).end('retry: 10\nid: 1\ndata: \n\n');
        },
        before: ({ headers }, response) => {
          const isResuming = headers['last-event-id'] !== undefined;
          if (isResuming) {
            tool.call({ id: call?.id, response: response.writeHead(200, streaming) });
          }
          return isResuming;
        },
      }),
    );
    expect(await answerHeard(peer.url)).toEqual({ jsonrpc: '2.0', id: 'asked', ...answer });
  });

  it.each(REQUESTS)('%s is answered over HTTP+SSE', async (method, answer) => {
    let finish: ((message: ClientMessage) => void) | undefined;
    const peer = await keep(
      startLegacySse({
        message: (message, { response, stream }) => {
          if (message.method === 'tools/call') {
            finish = (heard) => {
              const content = [{ type: 'text', text: JSON.stringify(heard) }];
              sendEvent(stream, { id: message.id, result: { content } });
            };
            sendEvent(stream, { id: 'asked', method });
          } else if (message.id === 'asked') {
            finish?.(message);
          } else {
            return false;
          }
          response.writeHead(202).end();
          return true;
        },
      }),
    );
    expect(await answerHeard(peer.url)).toEqual({ jsonrpc: '2.0', id: 'asked', ...answer });
  });

  it('answers requests of the official server package on both streams', async () => {
    const peer = await keep(startAskingServer());
    const result = await calls.callTool(callOf(peer.url, WORK));
    expect(result).toMatchObject({ outcome: 'answered', text: 'pong, -32601, pong, -32601' });
  });

  it('reopens a stream that has ended with the next list, but not one that is refused', async () => {
    const eager = toolCallsService({ 'mcpCallLimits.listMaxAgeMs': '0' });
    const streams: ServerResponse[] = [];
    const done: McpScript['call'] = ({ id, response }) => sendResult(response, id, { content: [] });
    const ending = await keep(
      startScriptedMcp({ ...listing, call: done, stream: (response) => void streams.push(response) }),
    );
    await eager.callTool(callOf(ending.url, WORK));
    await eager.callTool(callOf(ending.url, WORK));
    expect(streams).toHaveLength(1);
    streams[0]?.end();
    await vi.waitFor(async () => {
      await eager.callTool(callOf(ending.url, WORK));
      expect(streams).toHaveLength(2);
    });
    const refusing = await keep(startScriptedMcp({ ...listing, call: done }));
    for (let round = 0; round < 3; round += 1) {
      await eager.callTool(callOf(refusing.url, WORK));
    }
    expect(refusing.seen.filter((method) => method === 'GET')).toHaveLength(1);
  });

  it('answers only a few of many requests concurrently', async () => {
    const bytesOfAnAnswer = String(JSON.stringify({ jsonrpc: '2.0', id: 1_000, result: {} }).length);
    let heard = 0;
    let finish = (): void => undefined;
    const peer = await keep(
      startScriptedMcp({
        ...listing,
        // The server acknowledges no answer before the call has ended.
        before: ({ headers }) => {
          const isAnswer = headers['content-length'] === bytesOfAnAnswer;
          heard += isAnswer ? 1 : 0;
          if (heard === 16) {
            finish();
          }
          return isAnswer;
        },
        call: ({ id, response }) => {
          finish = () => {
            sendEvent(response, { id, result: { content: [] } });
            response.end();
          };
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          for (let index = 1_000; index < 2_000; index += 1) {
            sendEvent(response, { id: index, method: 'ping' });
          }
        },
      }),
    );
    await expect(calls.callTool(callOf(peer.url, WORK))).resolves.toMatchObject({ outcome: 'answered' });
    expect(heard).toBe(16);
  });
});
