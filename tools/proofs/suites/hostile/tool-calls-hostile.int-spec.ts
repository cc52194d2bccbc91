import type { RequestListener } from 'node:http';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { ToolCallFailureCause } from '../../../../src/systems/mcp-connection/model/tool-call.types.js';
import * as hostile from '../../../../test/support/peers/pathologies.js';
import { noSocketsLeft, startHttpPeer } from '../../../../test/support/peers/peer.js';
import {
  type McpScript,
  type ScriptedMcpPeer,
  sendResult,
  startScriptedMcp,
} from '../../../../test/support/peers/scripted-mcp.peer.js';
import {
  callOf,
  definition,
  stopServices,
  toolCallsService,
} from '../../../../test/support/peers/mcp-services.js';
import { IN_TIME_MS } from '../../../../test/support/patience.js';
import { keptPeers } from '../../../../test/support/peers/kept-peers.js';

const TOOL = definition('work');
const LISTED = [{ name: 'work', inputSchema: { type: 'object' } }];
const MEGABYTE = 1_048_576;
/** Deadline of calls that hang while others are made. */
const HANGING_MS = 12_000;
const keep = keptPeers();

/** Starts a server that lists the reviewed tool and handles calls according to the script. */
async function serving(call: McpScript['call'], rest: Partial<McpScript> = {}): Promise<ScriptedMcpPeer> {
  return keep(
    startScriptedMcp({
      list: ({ id, response }) => sendResult(response, id, { tools: LISTED }),
      ...(call === undefined ? {} : { call }),
      ...rest,
    }),
  );
}

const as =
  (listener: RequestListener): McpScript['call'] =>
  ({ request, response }) =>
    listener(request, response);

describe('Tool calls to servers that misbehave', () => {
  const calls = toolCallsService({ 'mcpCallLimits.breakerFailures': '1000', 'mcpCallLimits.idleMs': '100' });
  beforeAll(async () => {
    // The worker starts with the first call.
    const peer = await serving(({ id, response }) => sendResult(response, id, { content: [] }));
    await calls.callTool(callOf(peer.url, TOOL));
  });
  afterAll(stopServices);

  it.each<[string, RequestListener, ToolCallFailureCause, 'never' | 'maybe']>([
    ['announces a gigabyte', hostile.hugeAnswer(true), 'result_too_large', 'maybe'],
    ['sends a gigabyte', hostile.hugeAnswer(false), 'result_too_large', 'maybe'],
    ['sends one event of a gigabyte', hostile.hugeEvent, 'result_too_large', 'maybe'],
    ['sends a gzip bomb', hostile.gzipBomb, 'encoding', 'maybe'],
    ['drips its body', hostile.dripBody, 'timeout', 'maybe'],
    ['drips its headers', hostile.dripHeaders, 'timeout', 'maybe'],
    ['never answers', hostile.neverAnswers, 'timeout', 'maybe'],
    ['sends comments only', hostile.commentsOnly, 'timeout', 'maybe'],
    ['ends the stream without an answer', hostile.endsStream, 'network', 'maybe'],
    ['resets the connection', hostile.resets, 'network', 'maybe'],
    ['redirects to another origin', hostile.redirectsTo('http://127.0.0.1:9/'), 'redirect', 'maybe'],
    ['returns a web page', hostile.webPage, 'not_mcp', 'maybe'],
    ['returns broken JSON', hostile.brokenJson, 'not_mcp', 'maybe'],
    ['returns unrelated JSON', hostile.unrelatedJson, 'not_mcp', 'maybe'],
    ['returns 500 with text', hostile.failsLoudly, 'http_error', 'maybe'],
    ['requires credentials', hostile.unauthorized, 'unauthorized', 'never'],
    ['denies access', hostile.forbidden, 'forbidden', 'never'],
  ])('ends in time and frees the socket of a tool that %s', async (_name, listener, cause, sent) => {
    const peer = await serving(as(listener));
    const result = await calls.callTool(
      callOf(peer.url, TOOL, { deadlineMs: cause === 'timeout' ? 1_500 : IN_TIME_MS }),
    );
    expect(result).toEqual({ outcome: 'failed', cause, sent, latencyMs: expect.any(Number) });
    expect(result.latencyMs).toBeLessThan(IN_TIME_MS);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await noSocketsLeft(peer);
  });

  it.each<[string, unknown, ToolCallFailureCause]>([
    ['a task instead of content', { task: { taskId: '1', status: 'working' } }, 'invalid_result'],
    ['content that is not a list', { content: 'text' }, 'invalid_result'],
    ['a question instead of a result', { resultType: 'input_required', content: [] }, 'invalid_result'],
    ['structured content 100 levels deep', { content: [], structuredContent: nested(100) }, 'invalid_result'],
  ])('rejects a result with %s', async (_name, answer, cause) => {
    const peer = await serving(({ id, response }) => sendResult(response, id, answer));
    await expect(calls.callTool(callOf(peer.url, TOOL))).resolves.toMatchObject({ outcome: 'failed', cause });
  });

  it.each([
    [200, -32_602, 'never'],
    [200, -32_603, 'maybe'],
    [200, -32_000, 'maybe'],
    [400, -32_602, 'never'],
    [400, -32_000, 'maybe'],
    [404, -32_000, 'maybe'],
    [422, -32_603, 'maybe'],
    [500, -32_603, 'maybe'],
  ])(
    'determines whether a tool may have run from HTTP %i with JSON-RPC error %i',
    async (status, code, sent) => {
      const peer = await serving(({ id, response }) => {
        const error = { code, message: 'city must be one of\u200b Bern, Basel' };
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ jsonrpc: '2.0', id, error }));
      });
      const result = await calls.callTool(callOf(peer.url, TOOL));
      expect(peer.seen.filter((method) => method === 'tools/call')).toHaveLength(1);
      const latencyMs = expect.any(Number) as number;
      const words = 'city must be one of Bern, Basel';
      expect(result).toEqual({ outcome: 'failed', cause: 'mcp_error', sent, words, latencyMs });
    },
  );

  it('sanitizes and truncates the message of a server that rejects a call, without credentials', async () => {
    const peer = await serving(({ id, request, response }) => {
      const padding = 'x'.repeat(1_990);
      const error = {
        code: -32_602,
        message: `${padding} key ${String(request.headers['x-key'])} ${padding}`,
      };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ jsonrpc: '2.0', id, error }));
    });
    const credentials = { type: 'API_KEY' as const, headerName: 'X-Key', scheme: null, apiKey: 'CANARY-key' };
    const result = await calls.callTool(callOf(peer.url, TOOL, { credentials }));
    expect(result).toMatchObject({ words: `${'x'.repeat(1_990)} key [remo` });
  });

  it('accepts results up to the limit and rejects larger ones', async () => {
    const peer = await serving(({ id, params, response }) =>
      sendResult(response, id, {
        content: [{ type: 'text', text: 'x'.repeat(Number(params.arguments?.['size'])) }],
      }),
    );
    const call = (size: number) => calls.callTool(callOf(peer.url, TOOL, { arguments: { size } }));
    await expect(call(MEGABYTE - 1_000)).resolves.toMatchObject({ outcome: 'answered' });
    await expect(call(MEGABYTE)).resolves.toMatchObject({ cause: 'result_too_large' });
    await expect(call(10)).resolves.toMatchObject({ outcome: 'answered', text: 'xxxxxxxxxx' });
  });

  it('fails when nothing listens, and knows that nothing was sent', async () => {
    const peer = await startHttpPeer(hostile.notFound);
    await peer.close();
    await expect(calls.callTool(callOf(peer.url, TOOL))).resolves.toMatchObject({
      cause: 'refused',
      sent: 'never',
    });
  });

  it('does not mistake another server for an MCP server', async () => {
    const peer = await keep(startHttpPeer(hostile.webPage));
    await expect(calls.callTool(callOf(peer.url, TOOL))).resolves.toMatchObject({
      cause: 'not_mcp',
      sent: 'never',
    });
  });

  it('rejects calls beyond the concurrency limit, and reports that they were not sent', async () => {
    const narrow = toolCallsService({ 'mcpCallLimits.maxInFlight': '1' });
    const peer = await serving(as(hostile.neverAnswers));
    const abort = new AbortController();
    const hanging = narrow.callTool(callOf(peer.url, TOOL, { signal: abort.signal }));
    await expect(narrow.callTool(callOf(peer.url, TOOL))).resolves.toMatchObject({
      cause: 'overloaded',
      sent: 'never',
    });
    abort.abort();
    await expect(hanging).resolves.toMatchObject({ cause: 'cancelled' });
  });

  it('is not blocked while 200 calls hang', async () => {
    const hanging = await Promise.all(Array.from({ length: 10 }, () => serving(as(hostile.neverAnswers))));
    const good = await serving(({ id, response }) =>
      sendResult(response, id, { content: [{ type: 'text', text: 'done' }] }),
    );
    await calls.callTool(callOf(good.url, TOOL));
    const stuck = hanging.flatMap((peer) =>
      Array.from({ length: 20 }, () => calls.callTool(callOf(peer.url, TOOL, { deadlineMs: HANGING_MS }))),
    );
    const latencies: number[] = [];
    for (let index = 0; index < 20; index += 1) {
      const result = await calls.callTool(callOf(good.url, TOOL));
      expect(result).toMatchObject({ outcome: 'answered', text: 'done' });
      latencies.push(result.latencyMs);
    }
    // Queued after a hanging call, the first one would have taken nearly as long.
    expect(Math.max(...latencies)).toBeLessThan(HANGING_MS - 2_000);
    for (const { seen } of hanging) {
      expect(seen.filter((method) => method === 'tools/call').length).toBeLessThanOrEqual(16);
    }
    const results = await Promise.all(stuck);
    const causes = new Set(results.map((result) => (result.outcome === 'failed' ? result.cause : '')));
    // Calls that were sent, and calls that waited in vain for a slot.
    expect(causes).toEqual(new Set(['timeout', 'overloaded']));
    await new Promise((resolve) => setTimeout(resolve, 500));
    await noSocketsLeft(...hanging);
  });
});

function nested(depth: number): unknown {
  return depth === 0 ? 'core' : { inner: nested(depth - 1) };
}
