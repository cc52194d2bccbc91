import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { connectionService, noAuth, stopServices } from '../../support/peers/mcp-services.js';
import { type ProcessPeer, startEverything, startModernPeer } from '../../support/peers/official.peers.js';
import { keptPeers } from '../../support/peers/kept-peers.js';
import { type LegacySseScript, startLegacySse } from '../../support/peers/legacy-sse.peer.js';
import { commentsOnly, neverAnswers, notFound, webPage } from '../../support/peers/pathologies.js';
import { noSocketsLeft, startHttpPeer } from '../../support/peers/peer.js';
import { sendResult, startScriptedMcp, startToolListPeer } from '../../support/peers/scripted-mcp.peer.js';

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const keep = keptPeers();

describe('Connection test against well-behaved servers', () => {
  const service = connectionService();
  // Its first test also starts a worker.
  const hasty = connectionService({ 'mcpLimits.testTimeoutMs': '4000' });
  let streamable: ProcessPeer;
  let sse: ProcessPeer;
  beforeAll(async () => {
    [streamable, sse] = await Promise.all([startEverything('streamableHttp'), startEverything('sse')]);
    await service.test(noAuth(streamable.url));
  });
  afterAll(async () => {
    await stopServices();
    await Promise.all([streamable.close(), sse.close()]);
  });

  it('reads the tools of the official server over Streamable HTTP in less than 150 ms', async () => {
    const result = await service.test(noAuth(streamable.url));
    expect(result).toMatchObject({
      outcome: 'connected',
      protocolVersion: '2025-11-25',
      transport: 'streamable-http',
      server: { name: 'mcp-servers/everything', title: 'Everything Reference Server' },
      rejectedTools: [],
      warnings: [],
    });
    const tools = result.outcome === 'connected' ? result.tools : [];
    expect(tools).toHaveLength(13);
    expect(tools.find(({ name }) => name === 'echo')).toMatchObject({
      description: expect.stringContaining('Echoes'),
      inputSchema: { type: 'object', required: ['message'] },
    });
    expect(tools.filter(({ outputSchema }) => outputSchema !== null)).toHaveLength(1);
  });

  it('falls back to HTTP+SSE if POST is not offered, and warns', async () => {
    const result = await service.test(noAuth(sse.url));
    expect(result).toMatchObject({
      outcome: 'connected',
      transport: 'sse',
      warnings: ['The MCP server offers only the deprecated HTTP+SSE transport.'],
    });
    expect(result.outcome === 'connected' && result.tools).toHaveLength(13);
  });

  it.each([
    ['that offers a stream', {}, { outcome: 'connected', transport: 'sse', tools: [{ name: 'work' }] }],
    [
      'that offers no stream either',
      { stream: (_count, response) => Boolean(response.writeHead(405).end()) },
      { outcome: 'unreachable', cause: 'http_error' },
    ],
  ] satisfies [string, LegacySseScript, object][])(
    'tries HTTP+SSE with a server %s if POST is answered 400',
    async (_name, script, expected) => {
      const before = (request: IncomingMessage, response: ServerResponse): boolean =>
        request.method === 'POST' &&
        !request.url?.includes('stream=') &&
        Boolean(response.writeHead(400).end('sessionid must be provided'));
      const peer = await keep(startLegacySse({ before, ...script }));
      await expect(service.test(noAuth(peer.url))).resolves.toMatchObject(expected);
      await noSocketsLeft(peer);
    },
  );

  it('uses 2026-07-28 with a modern server, propagates the trace and sends two requests', async () => {
    const peer = await keep(startModernPeer([{ name: 'first', title: 'First', description: 'one' }]));
    await service.test(noAuth(peer.url));
    peer.tools = [...peer.tools, { name: 'second' }];
    peer.calls.clear();
    const result = await service.test(noAuth(peer.url, { traceparent: TRACEPARENT }));
    expect(result).toMatchObject({
      outcome: 'connected',
      protocolVersion: '2026-07-28',
      transport: 'streamable-http',
      server: {
        name: 'modern-peer',
        version: '1.2.3',
        title: 'Modern Peer',
        description: 'Modern Peer',
      },
      tools: [
        { name: 'first', title: 'First', description: 'one' },
        { name: 'second', title: null, description: '' },
      ],
    });
    expect(Object.fromEntries(peer.calls)).toEqual({ 'server/discover': 1, 'tools/list': 1 });
    expect(peer.traceparents.slice(-2)).toEqual([TRACEPARENT, TRACEPARENT]);
    await noSocketsLeft(peer);
  });

  it('fails instead of stalling when the base URL is not a URL', async () => {
    await expect(service.test(noAuth('no url'))).resolves.toMatchObject({
      outcome: 'unreachable',
      cause: 'internal',
    });
  });

  it('drops a malformed trace context', async () => {
    const peer = await keep(startModernPeer([{ name: 'first' }]));
    await service.test(noAuth(peer.url, { traceparent: 'x\r\nevil: 1' }));
    expect(new Set(peer.traceparents)).toEqual(new Set(['']));
  });

  it('ends the MCP session of a legacy server and leaves no socket', async () => {
    const peer = await keep(startToolListPeer([{ name: 'a', inputSchema: { type: 'object' } }]));
    const result = await service.test(noAuth(peer.url));
    expect(result).toMatchObject({ outcome: 'connected', tools: [{ name: 'a' }] });
    expect(peer.seen).toEqual([
      'server/discover',
      'initialize',
      'notifications/initialized',
      'tools/list',
      'DELETE',
    ]);
    await noSocketsLeft(peer);
  });

  it.each([
    [403, ''],
    [500, 'unknown method'],
    [200, 'unknown method'],
  ])(
    'falls back to the 2025 handshake with a server that answers the probe with %i',
    async (status, text) => {
      const peer = await keep(
        startScriptedMcp({
          list: ({ id, response }) => sendResult(response, id, { tools: [{ name: 'a', inputSchema: {} }] }),
          before: (request, response) => {
            const isProbe = request.headers['mcp-method'] === 'server/discover';
            return isProbe && Boolean(response.writeHead(status, { 'content-type': 'text/plain' }).end(text));
          },
        }),
      );
      await expect(service.test(noAuth(peer.url))).resolves.toMatchObject({ outcome: 'connected' });
    },
  );

  it.each([
    ['202', (_request, response) => response.writeHead(202).end()],
    ['nothing', neverAnswers],
    ['a stream of comments', commentsOnly],
  ] satisfies [string, RequestListener][])(
    'falls back to the 2025 handshake with a server that answers the probe with %s',
    async (_name, listener) => {
      const peer = await keep(
        startScriptedMcp({
          list: ({ id, response }) => sendResult(response, id, { tools: [{ name: 'a', inputSchema: {} }] }),
          before: (request, response) => {
            const isProbe = request.headers['mcp-method'] === 'server/discover';
            if (isProbe) {
              listener(request, response);
            }
            return isProbe;
          },
        }),
      );
      await expect(service.test(noAuth(peer.url))).resolves.toMatchObject({ tools: [{ name: 'a' }] });
      await noSocketsLeft(peer);
    },
  );

  it('follows a redirect within the origin and keeps the method', async () => {
    const peer = await keep(
      startScriptedMcp({
        list: ({ id, response }) => sendResult(response, id, { tools: [] }),
        before: (request, response) =>
          request.url === '/mcp' && Boolean(response.writeHead(301, { location: '/mcp/' }).end()),
      }),
    );
    await expect(service.test(noAuth(peer.url))).resolves.toMatchObject({ outcome: 'connected', tools: [] });
  });

  it('reads all pages; the empty string is a cursor', async () => {
    const pages: Record<string, unknown> = {
      first: { tools: [{ name: 'a', inputSchema: {} }], nextCursor: '' },
      '': { tools: [{ name: 'b', inputSchema: {} }], nextCursor: 'c2' },
      c2: { tools: [{ name: 'c', inputSchema: {} }], nextCursor: null },
    };
    const peer = await keep(
      startScriptedMcp({
        list: ({ id, cursor, response }) => sendResult(response, id, pages[cursor ?? 'first']),
      }),
    );
    const result = await service.test(noAuth(peer.url));
    expect(result).toMatchObject({ tools: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] });
  });

  it.each([
    [0, 1, []],
    [3, 2, [{ name: 'late' }]],
  ])('reads an empty list again only when %i tools were known', async (knownToolCount, lists, tools) => {
    let count = 0;
    const peer = await keep(
      startScriptedMcp({
        list: ({ id, response }) => {
          count += 1;
          sendResult(response, id, { tools: count === 1 ? [] : [{ name: 'late', inputSchema: {} }] });
        },
      }),
    );
    await expect(service.test(noAuth(peer.url, { knownToolCount }))).resolves.toMatchObject({ tools });
    expect(count).toBe(lists);
  });

  it('fails if the server fails to list its tools', async () => {
    const peer = await keep(
      startScriptedMcp({
        list: ({ id, response }) => {
          const error = { code: -32603, message: 'CANARY' };
          response.writeHead(200, { 'content-type': 'application/json' });
          response.end(JSON.stringify({ jsonrpc: '2.0', id, error }));
        },
      }),
    );
    const result = await service.test(noAuth(peer.url));
    expect(result).toEqual({ outcome: 'unreachable', cause: 'mcp_error', latencyMs: expect.any(Number) });
  });

  it.each([
    ['a web page', service, webPage, 'not_mcp'],
    ['a missing page', service, notFound, 'not_mcp'],
    ['an event stream for everything', hasty, commentsOnly, 'timeout'],
  ])('does not mistake %s for an MCP server', async (_name, tester, listener, cause) => {
    const peer = await keep(startHttpPeer(listener));
    await expect(tester.test(noAuth(peer.url))).resolves.toMatchObject({ outcome: 'unreachable', cause });
    await noSocketsLeft(peer);
  });
});
