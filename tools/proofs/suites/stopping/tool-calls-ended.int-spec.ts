import type { ServerResponse } from 'node:http';

import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { afterAll, describe, expect, it, vi } from 'vitest';

import { startLegacySse } from '../../../../test/support/peers/legacy-sse.peer.js';
import { startHttpPeer } from '../../../../test/support/peers/peer.js';
import {
  type ClientMessage,
  sendResult,
  startScriptedMcp,
} from '../../../../test/support/peers/scripted-mcp.peer.js';
import {
  callOf,
  definition,
  stopServices,
  toolCallsService,
} from '../../../../test/support/peers/mcp-services.js';
import { keptPeers } from '../../../../test/support/peers/kept-peers.js';

const WORK = definition('work');
const LISTED = [{ name: 'work', inputSchema: { type: 'object' } }];
const keep = keptPeers();

/** Starts a server of protocol 2025-11-25 whose tool never answers. */
async function startHanging() {
  const calls: unknown[] = [];
  const notices: ClientMessage[] = [];
  const peer = await startScriptedMcp({
    list: ({ id, response }) => sendResult(response, id, { tools: LISTED }),
    call: ({ id }) => void calls.push(id),
    receive: (message) => void notices.push(message),
  });
  return Object.assign(peer, { calls, cancelled: () => notices.filter(isCancellation) });
}

function isCancellation({ method }: ClientMessage): boolean {
  return method === 'notifications/cancelled';
}

/** Starts a server of protocol 2026-07-28 whose tool never answers. Returns the open streams of calls. */
async function startModernHanging() {
  const streams = new Set<ServerResponse>();
  const methods: string[] = [];
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'hanging', version: '1' }, { capabilities: { tools: {} } });
    server.registerTool('work', {}, () => new Promise(() => undefined));
    return server;
  });
  const serve = toNodeHandler(handler);
  const peer = await startHttpPeer((request, response) => {
    const method = String(request.headers['mcp-method']);
    methods.push(method);
    if (method === 'tools/call') {
      streams.add(response.once('close', () => streams.delete(response)));
    }
    void serve(request as Parameters<typeof serve>[0], response);
  }, '/mcp');
  return Object.assign(peer, { streams, methods });
}

describe('Tool calls that end without an answer', () => {
  const calls = toolCallsService({ TOOL_CHANGE_POLICY: 'accept', 'mcpCallLimits.breakerFailures': '100' });
  afterAll(stopServices);

  /** Calls with a short deadline until a call reaches the tool in time, and waits for its end. */
  async function lateCall(url: string, arrived: () => boolean): Promise<void> {
    await vi.waitFor(async () => {
      const result = await calls.callTool(callOf(url, WORK, { deadlineMs: 1_000 }));
      expect(result).toMatchObject({ cause: 'timeout', sent: 'maybe' });
      // A worker that is still loading has sent nothing.
      expect(arrived()).toBe(true);
    });
  }

  it('notifies a server of the 2025 revisions when the deadline of its call has passed', async () => {
    const peer = await keep(startHanging());
    await lateCall(peer.url, () => peer.calls.length > 0);
    await vi.waitFor(() => expect(peer.cancelled()).toHaveLength(1));
    const [{ params } = {}] = peer.cancelled();
    expect(params).toEqual({ requestId: peer.calls.at(-1), reason: 'The result is no longer needed' });
  });

  it('notifies it of a cancelled call, and before the session ends when the service stops', async () => {
    const peer = await keep(startHanging());
    const abort = new AbortController();
    const call = calls.callTool(callOf(peer.url, WORK, { signal: abort.signal }));
    await vi.waitFor(() => expect(peer.calls).toHaveLength(1));
    abort.abort();
    await expect(call).resolves.toMatchObject({ cause: 'cancelled' });
    await vi.waitFor(() => expect(peer.cancelled()).toHaveLength(1));
    const stopping = toolCallsService();
    const late = stopping.callTool(callOf(peer.url, WORK));
    await vi.waitFor(() => expect(peer.calls).toHaveLength(2));
    await stopping.onModuleDestroy();
    await expect(late).resolves.toMatchObject({ cause: 'stopping' });
    expect(peer.seen.slice(-2)).toEqual(['notifications/cancelled', 'DELETE']);
  });

  it('closes the stream of a call to a server of 2026-07-28, and sends nothing else', async () => {
    const peer = await keep(startModernHanging());
    await lateCall(peer.url, () => peer.methods.includes('tools/call'));
    await vi.waitFor(() => expect(peer.streams.size).toBe(0));
    expect(peer.methods.at(-1)).toBe('tools/call');
  });

  it('closes the stream of a call over HTTP+SSE, which ends its session', async () => {
    const streams: ServerResponse[] = [];
    const peer = await keep(
      startLegacySse({
        message: ({ method }, { response, stream }) => {
          if (method === 'tools/call') {
            streams.push(stream);
            response.writeHead(202).end();
          }
          return method === 'tools/call';
        },
      }),
    );
    await lateCall(peer.url, () => streams.length > 0);
    await vi.waitFor(() => expect(streams.map(({ destroyed }) => destroyed)).toEqual([true]));
  });
});
