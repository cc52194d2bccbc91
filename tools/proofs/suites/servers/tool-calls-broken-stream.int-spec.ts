import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import {
  type LegacySseScript,
  sendEvent,
  startLegacySse,
} from '../../../../test/support/peers/legacy-sse.peer.js';
import { sendResult, startScriptedMcp } from '../../../../test/support/peers/scripted-mcp.peer.js';
import {
  callOf,
  definition,
  stopServices,
  toolCallsService,
} from '../../../../test/support/peers/mcp-services.js';
import { keptPeers } from '../../../../test/support/peers/kept-peers.js';

const WORK = definition('work');
const LISTED = [{ name: 'work', inputSchema: { type: 'object' } }];
/** Longer than a status takes to reach the worker from the peer. */
const ARRIVAL_MS = 300;
const keep = keptPeers();

/** Starts a server whose tool runs and then loses its stream. Attempts to resume the stream get the given status. */
async function startLosingStream(resumedWith: number, retryMs: number) {
  let resumed = 0;
  const peer = await startScriptedMcp({
    list: ({ id, response }) => sendResult(response, id, { tools: LISTED }),
    call: ({ response }) => {
      const notice = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: '' } };
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`retry: ${retryMs}\nid: 1\ndata: ${JSON.stringify(notice)}\n\n`);
    },
    before: (request, response) => {
      const isResuming = request.headers['last-event-id'] !== undefined;
      if (isResuming) {
        resumed += 1;
        response.writeHead(resumedWith).end();
      }
      return isResuming;
    },
  });
  await keep(peer);
  return { url: peer.url, seen: peer.seen, resumed: () => resumed };
}

async function legacy(script: LegacySseScript) {
  return keep(startLegacySse(script));
}

describe('Tool calls whose stream breaks', () => {
  const calls = toolCallsService({ 'mcpCallLimits.breakerFailures': '1000', 'mcpCallLimits.idleMs': '100' });
  beforeAll(async () => {
    // The worker starts with the first call.
    const peer = await legacy({});
    await expect(calls.callTool(callOf(peer.url, WORK))).resolves.toMatchObject({ text: 'done' });
  });
  afterAll(stopServices);

  /** Makes a call, aborts it once `isDue` returns true, and returns its outcome. */
  async function abortWhen(url: string, isDue: () => boolean) {
    const abort = new AbortController();
    const call = calls.callTool(callOf(url, WORK, { deadlineMs: 30_000, signal: abort.signal }));
    await vi.waitFor(() => expect(isDue()).toBe(true));
    await new Promise((resolve) => setTimeout(resolve, ARRIVAL_MS));
    abort.abort();
    return call;
  }

  it.each([404, 400])('runs a tool once if resuming its stream returns %i', async (status) => {
    const peer = await startLosingStream(status, 10);
    await expect(calls.callTool(callOf(peer.url, WORK))).resolves.toMatchObject({
      outcome: 'failed',
      cause: 'network',
      sent: 'maybe',
    });
    expect(peer.resumed()).toBeGreaterThan(0);
    expect(peer.seen.filter((method) => method === 'tools/call')).toHaveLength(1);
  });

  it.each([401, 404, 429])('does not mistake %i for a resumed stream for a rejected call', async (status) => {
    const peer = await startLosingStream(status, 2_000);
    await expect(abortWhen(peer.url, () => peer.resumed() > 0)).resolves.toMatchObject({
      cause: 'cancelled',
      sent: 'maybe',
    });
  });

  it('does not mistake the rejection of another HTTP+SSE stream for a rejected call', async () => {
    let refused = false;
    const peer = await legacy({
      stream: (count, response) => {
        refused = count > 2;
        if (refused) {
          response.writeHead(404).end();
        }
        return refused;
      },
      message: ({ method }, { response, stream }) => {
        if (method === 'tools/call') {
          response.writeHead(202).end();
          stream.end();
        }
        return method === 'tools/call';
      },
    });
    await expect(abortWhen(peer.url, () => refused)).resolves.toMatchObject({ sent: 'maybe' });
  });

  it('knows that a call was not sent while it connects over HTTP+SSE', async () => {
    const silent = await legacy({ message: ({ method }, { count }) => method === 'initialize' && count > 1 });
    await expect(calls.callTool(callOf(silent.url, WORK, { deadlineMs: 2_000 }))).resolves.toMatchObject({
      cause: 'timeout',
      sent: 'never',
    });
    expect(silent.streams()).toBe(2);
    const broken = await legacy({
      message: (_message, { count, response }) => count > 1 && response.writeHead(503).end() === response,
    });
    await expect(calls.callTool(callOf(broken.url, WORK))).resolves.toMatchObject({
      cause: 'http_error',
      sent: 'never',
    });
    expect(broken.streams()).toBe(2);
  });

  it('does not mistake the rejection of a response to the server for a rejected call', async () => {
    let refused = false;
    const peer = await legacy({
      message: ({ method }, { response, stream }) => {
        if (method === 'tools/call') {
          response.writeHead(202).end();
          sendEvent(stream, { id: 'are-you-there', method: 'ping' });
        } else if (method === undefined) {
          refused = true;
          response.writeHead(404).end();
        }
        return method === 'tools/call' || method === undefined;
      },
    });
    await expect(abortWhen(peer.url, () => refused)).resolves.toMatchObject({ sent: 'maybe' });
  });
});
