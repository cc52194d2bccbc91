import type { ServerResponse } from 'node:http';

import { afterAll, afterEach, describe, expect, it } from 'vitest';

import { CONNECTION_WARNINGS } from '../../../src/modules/mcp-connection/model/connection-warning.js';
import { connectionService, noAuth, stopServices } from '../../support/peers/connection-tests.js';
import type { Peer } from '../../support/peers/peer.js';
import { sendResult, startScriptedMcp } from '../../support/peers/scripted-mcp.peer.js';
import { callOf, definition, stopToolCalls, toolCallsService } from '../../support/peers/tool-calls.js';
import { startToolsPeer } from '../../support/peers/tools.peer.js';

const WORK = definition('work');
const LISTED = [{ name: 'work', inputSchema: { type: 'object' } }];
const open: Peer[] = [];

/** Refuses with 429, and with this header where there is one. */
function refuse(response: ServerResponse, retryAfter?: string): void {
  response.writeHead(429, retryAfter === undefined ? {} : { 'retry-after': retryAfter }).end('slow down');
}

/** A server that refuses calls of its tool so often. */
async function limiting(refusals: number, retryAfter?: string) {
  let calls = 0;
  const peer = await startScriptedMcp({
    list: ({ id, response }) => sendResult(response, id, { tools: LISTED }),
    call: ({ id, response }) => {
      calls += 1;
      if (calls <= refusals) {
        refuse(response, retryAfter);
      } else {
        sendResult(response, id, { content: [{ type: 'text', text: 'done' }] });
      }
    },
  });
  open.push(peer);
  return { url: peer.url, calls: () => calls };
}

describe('A server that limits how often it is called', () => {
  const calls = toolCallsService({ MCP_CALL_BREAKER_FAILURES: '2', TOOL_CHANGE_POLICY: 'accept' });
  const tests = connectionService();
  afterEach(async () => {
    await Promise.all(open.splice(0).map((peer) => peer.close()));
  });
  afterAll(() => Promise.all([stopToolCalls(), stopServices()]));

  it('is waited for within the deadline of a call', async () => {
    const peer = await limiting(2, '0');
    await expect(calls.callTool(callOf(peer.url, WORK))).resolves.toMatchObject({ text: 'done' });
    expect(peer.calls()).toBe(3);
  });

  it.each([
    ['3600', { retryAfterMs: 3_600_000 }],
    [undefined, {}],
    ['soon', {}],
  ])('is not waited for after Retry-After %s, and stays open to others', async (retryAfter, told) => {
    const peer = await limiting(5, retryAfter);
    for (let round = 0; round < 5; round += 1) {
      const latencyMs = expect.any(Number) as number;
      const refused = { outcome: 'failed', cause: 'rate_limited', sent: 'never', latencyMs, ...told };
      await expect(calls.callTool(callOf(peer.url, WORK))).resolves.toEqual(refused);
    }
    await expect(calls.callTool(callOf(peer.url, WORK))).resolves.toMatchObject({ text: 'done' });
  });

  it('has not run the tool of a call that is cancelled while it waits', async () => {
    const peer = await limiting(1, '5');
    const call = callOf(peer.url, WORK, { signal: AbortSignal.timeout(2_000) });
    await expect(calls.callTool(call)).resolves.toMatchObject({ cause: 'cancelled', sent: 'never' });
  });

  it.each(['server/discover', 'initialize', 'notifications/initialized', 'tools/list'])(
    'is waited for by a connection test whose %s is refused',
    async (refused) => {
      let left = 2;
      const peer = await startScriptedMcp({
        list: ({ id, response }) => sendResult(response, id, { tools: LISTED }),
        refuses: (method, response) => {
          const isNow = method === refused && (left -= 1) >= 0;
          if (isNow) {
            refuse(response, '0');
          }
          return isNow;
        },
      });
      open.push(peer);
      await expect(tests.test(noAuth(peer.url))).resolves.toMatchObject({
        outcome: 'connected',
        tools: [{ name: 'work' }],
        warnings: [CONNECTION_WARNINGS.rateLimited],
      });
    },
  );

  it('is waited for where it speaks no other revision than 2026-07-28', async () => {
    let left = 2;
    const modern = await startToolsPeer({ work: { run: () => 'done' } }, (_request, response) => {
      left -= 1;
      if (left >= 0) {
        refuse(response, '0');
      }
      return left >= 0;
    });
    open.push(modern);
    await expect(calls.callTool(callOf(modern.url, WORK))).resolves.toMatchObject({ text: 'done' });
    expect(left).toBeLessThan(0);
  });

  it('fails a connection test that has no time to wait', async () => {
    const peer = await startScriptedMcp({
      list: ({ response }) => refuse(response, '86400'),
    });
    open.push(peer);
    await expect(tests.test(noAuth(peer.url))).resolves.toMatchObject({ cause: 'rate_limited' });
  });
});
