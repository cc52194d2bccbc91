import type { ServerResponse } from 'node:http';

import { afterAll, describe, expect, it, vi } from 'vitest';

import { CONNECTION_WARNINGS } from '../../../../src/systems/mcp-connection/model/connection-test.types.js';
import {
  connectionService,
  noAuth,
  callOf,
  definition,
  stopServices,
  toolCallsService,
} from '../../../../test/support/peers/mcp-services.js';
import { sendResult, startScriptedMcp } from '../../../../test/support/peers/scripted-mcp.peer.js';
import { startTokenPeer } from '../../../../test/support/peers/token.peer.js';
import { startToolsPeer } from '../../../../test/support/peers/official.peers.js';
import { keptPeers } from '../../../../test/support/peers/kept-peers.js';

const WORK = definition('work');
const LISTED = [{ name: 'work', inputSchema: { type: 'object' } }];
const keep = keptPeers();

/** Rejects with 429 and an optional Retry-After header. */
function reject(response: ServerResponse, retryAfter?: string): void {
  response.writeHead(429, retryAfter === undefined ? {} : { 'retry-after': retryAfter }).end('slow down');
}

/** Starts a server that rejects the first `refusals` calls of its tool. */
async function startLimiting(refusals: number, retryAfter?: string) {
  let calls = 0;
  const peer = await startScriptedMcp({
    list: ({ id, response }) => sendResult(response, id, { tools: LISTED }),
    call: ({ id, response }) => {
      calls += 1;
      if (calls <= refusals) {
        reject(response, retryAfter);
      } else {
        sendResult(response, id, { content: [{ type: 'text', text: 'done' }] });
      }
    },
  });
  await keep(peer);
  return { url: peer.url, calls: () => calls };
}

describe('A rate-limiting server', () => {
  const calls = toolCallsService({ 'mcpCallLimits.breakerFailures': '2', TOOL_CHANGE_POLICY: 'accept' });
  const tests = connectionService();
  afterAll(stopServices);

  it('is retried within the deadline of a call', async () => {
    const peer = await startLimiting(2, '0');
    await expect(calls.callTool(callOf(peer.url, WORK))).resolves.toMatchObject({ text: 'done' });
    expect(peer.calls()).toBe(3);
  });

  it.each([
    ['3600', { retryAfterMs: 3_600_000 }],
    [undefined, {}],
    ['soon', {}],
  ])(
    'is not retried after Retry-After %s, and remains available to others',
    async (retryAfter, retryAfterResult) => {
      const peer = await startLimiting(5, retryAfter);
      for (let round = 0; round < 5; round += 1) {
        const latencyMs = expect.any(Number) as number;
        const refused = {
          outcome: 'failed',
          cause: 'rate_limited',
          sent: 'never',
          latencyMs,
          ...retryAfterResult,
        };
        await expect(calls.callTool(callOf(peer.url, WORK))).resolves.toEqual(refused);
      }
      await expect(calls.callTool(callOf(peer.url, WORK))).resolves.toMatchObject({ text: 'done' });
    },
  );

  it.each(['server/discover', 'initialize', 'tools/list', 'the token endpoint'])(
    'fails a call that has no time to wait, with 429 from %s, and remains available to others',
    async (refusing) => {
      const peer = await startScriptedMcp({
        list: ({ id, response }) => sendResult(response, id, { tools: LISTED }),
        refuses: (method, response) => {
          if (method === refusing) {
            reject(response, '12');
          }
          return method === refusing;
        },
      });
      const tokens = await startTokenPeer({
        instead: () => ({ status: 429, body: {}, headers: { 'retry-after': '12' } }),
      });
      await Promise.all([keep(peer), keep(tokens)]);
      const isToken = refusing === 'the token endpoint';
      const account = { clientId: 'client', clientSecret: 'secret', tokenUrl: tokens.url };
      const call = callOf(
        peer.url,
        WORK,
        isToken ? { credentials: { type: 'SERVICE_ACCOUNT', ...account } } : {},
      );
      for (let round = 0; round < 3; round += 1) {
        await expect(calls.callTool(call)).resolves.toEqual({
          outcome: 'failed',
          cause: isToken ? 'token_busy' : 'rate_limited',
          sent: 'never',
          retryAfterMs: 12_000,
          latencyMs: expect.any(Number),
        });
      }
    },
  );

  it('is retried by calls with enough time, while another learns the wait time', async () => {
    let isLimiting = true;
    const peer = await startScriptedMcp({
      list: ({ id, response }) => sendResult(response, id, { tools: LISTED }),
      call: ({ id, response }) => sendResult(response, id, { content: [{ type: 'text', text: 'done' }] }),
      refuses: (method, response) => {
        const isNow = isLimiting && method === 'initialize';
        if (isNow) {
          isLimiting = false;
          reject(response, '3');
        }
        return isNow;
      },
    });
    await keep(peer);
    const patient = calls.callTool(callOf(peer.url, WORK));
    await vi.waitFor(() => expect(peer.seen).toContain('initialize'));
    const hurried = await calls.callTool(callOf(peer.url, WORK, { deadlineMs: 1_500 }));
    expect(hurried).toMatchObject({ cause: 'rate_limited', sent: 'never' });
    expect('retryAfterMs' in hurried && hurried.retryAfterMs).toBeGreaterThan(1_500);
    await expect(patient).resolves.toMatchObject({ text: 'done' });
  });

  it('gets no request for a new session if it limits the tool list', async () => {
    const fresh = toolCallsService({ 'mcpCallLimits.listMaxAgeMs': '0' });
    let lists = 0;
    const peer = await startScriptedMcp({
      list: ({ id, response }) => {
        lists += 1;
        if (lists > 1) {
          reject(response, '3600');
        } else {
          sendResult(response, id, { tools: LISTED });
        }
      },
      call: ({ id, response }) => sendResult(response, id, { content: [] }),
    });
    await keep(peer);
    await expect(fresh.callTool(callOf(peer.url, WORK))).resolves.toMatchObject({ outcome: 'answered' });
    await expect(fresh.callTool(callOf(peer.url, WORK))).resolves.toMatchObject({
      cause: 'rate_limited',
      retryAfterMs: 3_600_000,
    });
    expect(peer.seen.filter((method) => method === 'initialize')).toHaveLength(1);
  });

  it.each(['server/discover', 'tools/call'])(
    'is distinguished from a closed one on retry, with 429 from %s',
    async (refusing) => {
      const peer = await startScriptedMcp({
        list: ({ id, response }) => sendResult(response, id, { tools: LISTED }),
        refuses: (method, response) => {
          if (method === refusing) {
            response.on('finish', () => void peer.close());
            reject(response, '1');
          }
          return method === refusing;
        },
      });
      await expect(calls.callTool(callOf(peer.url, WORK))).resolves.toEqual({
        outcome: 'failed',
        cause: 'refused',
        sent: 'never',
        latencyMs: expect.any(Number),
      });
    },
  );

  it('has not run the tool of a call cancelled while waiting', async () => {
    const peer = await startLimiting(1, '5');
    const call = callOf(peer.url, WORK, { signal: AbortSignal.timeout(2_000) });
    await expect(calls.callTool(call)).resolves.toMatchObject({ cause: 'cancelled', sent: 'never' });
  });

  it.each(['server/discover', 'initialize', 'notifications/initialized', 'tools/list'])(
    'is retried by a connection test whose %s is rejected',
    async (refused) => {
      let left = 2;
      const peer = await startScriptedMcp({
        list: ({ id, response }) => sendResult(response, id, { tools: LISTED }),
        refuses: (method, response) => {
          const isNow = method === refused && (left -= 1) >= 0;
          if (isNow) {
            reject(response, '0');
          }
          return isNow;
        },
      });
      await keep(peer);
      await expect(tests.test(noAuth(peer.url))).resolves.toMatchObject({
        outcome: 'connected',
        tools: [{ name: 'work' }],
        warnings: [CONNECTION_WARNINGS.rateLimited],
      });
    },
  );

  it('is retried if it supports only revision 2026-07-28', async () => {
    let left = 2;
    const modern = await startToolsPeer({ work: { run: () => 'done' } }, (_request, response) => {
      left -= 1;
      if (left >= 0) {
        reject(response, '0');
      }
      return left >= 0;
    });
    await keep(modern);
    await expect(calls.callTool(callOf(modern.url, WORK))).resolves.toMatchObject({ text: 'done' });
    expect(left).toBeLessThan(0);
  });

  it('fails a connection test that has no time to wait', async () => {
    const peer = await keep(
      startScriptedMcp({
        list: ({ response }) => reject(response, '86400'),
      }),
    );
    await expect(tests.test(noAuth(peer.url))).resolves.toMatchObject({ cause: 'rate_limited' });
  });
});
