import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import {
  type McpScript,
  type ScriptedCall,
  type ScriptedMcpPeer,
  sendResult,
  startScriptedMcp,
} from '../../support/peers/scripted-mcp.peer.js';
import { callOf, definition, stopServices, toolCallsService } from '../../support/peers/mcp-services.js';
import { keptPeers } from '../../support/peers/kept-peers.js';

const WORK = definition('work');
const LISTED = { name: 'work', inputSchema: { type: 'object' } };
const keep = keptPeers();

async function serving(script: McpScript): Promise<ScriptedMcpPeer> {
  return keep(startScriptedMcp(script));
}

const done = ({ id, response }: ScriptedCall): void =>
  sendResult(response, id, { content: [{ type: 'text', text: 'done' }] });
const count = ({ seen }: ScriptedMcpPeer, method: string): number =>
  seen.filter((candidate) => candidate === method).length;

describe('Sessions of tool calls that change during calls', () => {
  const calls = toolCallsService();
  const fresh = toolCallsService({ 'mcpCallLimits.listMaxAgeMs': '0' });
  beforeAll(async () => {
    // The workers start with their first calls.
    const peer = await serving({
      list: ({ id, response }) => sendResult(response, id, { tools: [LISTED] }),
      call: done,
    });
    await Promise.all([calls.callTool(callOf(peer.url, WORK)), fresh.callTool(callOf(peer.url, WORK))]);
  });
  afterAll(stopServices);

  it('reads the list again when the server reports a change while the list is being read', async () => {
    let finishReading: (() => void) | undefined;
    let finishCall: (() => void) | undefined;
    const tools: object[] = [LISTED];
    const peer = await serving({
      list: ({ id, response }) => {
        const answer = { tools: [...tools] };
        finishReading = (): void => sendResult(response, id, answer);
        if (count(peer, 'tools/list') !== 2) {
          finishReading();
        }
      },
      call: (call) => {
        finishCall = (): void => {
          const notice = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
          const answer = { jsonrpc: '2.0', id: call.id, result: { content: [] } };
          call.response.writeHead(200, { 'content-type': 'text/event-stream' });
          call.response.end(`data: ${JSON.stringify(notice)}\n\ndata: ${JSON.stringify(answer)}\n\n`);
        };
      },
    });
    const running = calls.callTool(callOf(peer.url, WORK));
    await vi.waitFor(() => expect(finishCall).toBeDefined());
    const unlisted = calls.callTool(callOf(peer.url, definition('more')));
    await vi.waitFor(() => expect(count(peer, 'tools/list')).toBe(2));
    finishCall?.();
    await expect(running).resolves.toMatchObject({ outcome: 'answered' });
    finishReading?.();
    await expect(unlisted).resolves.toMatchObject({ cause: 'tool_gone' });
    tools[0] = { name: 'work', description: 'Other', inputSchema: { type: 'object' } };
    await expect(calls.callTool(callOf(peer.url, WORK))).resolves.toMatchObject({
      cause: 'definition_changed',
    });
    expect(count(peer, 'tools/call')).toBe(1);
  });

  it('ends the session on a server whose tools cannot be read', async () => {
    const peer = await serving({ list: ({ response }) => response.writeHead(500).end() });
    await expect(calls.callTool(callOf(peer.url, WORK))).resolves.toMatchObject({
      cause: 'http_error',
      sent: 'never',
    });
    expect([count(peer, 'initialize'), count(peer, 'DELETE')]).toEqual([1, 1]);
  });

  it('ends a replaced session once its calls have ended', async () => {
    let isFailing = false;
    let finishSlow: (() => void) | undefined;
    const peer = await serving({
      list: ({ id, response }) => {
        if (isFailing) {
          isFailing = false;
          response.writeHead(500).end();
        } else {
          sendResult(response, id, { tools: [LISTED] });
        }
      },
      call: (call) => {
        if (call.params.arguments?.['slow'] === true) {
          finishSlow = (): void => done(call);
        } else {
          done(call);
        }
      },
    });
    const slow = fresh.callTool(callOf(peer.url, WORK, { arguments: { slow: true } }));
    await vi.waitFor(() => expect(finishSlow).toBeDefined());
    isFailing = true;
    await expect(fresh.callTool(callOf(peer.url, WORK))).resolves.toMatchObject({ text: 'done' });
    expect([count(peer, 'initialize'), count(peer, 'DELETE')]).toEqual([2, 0]);
    finishSlow?.();
    await expect(slow).resolves.toMatchObject({ text: 'done' });
    await vi.waitFor(() => expect(count(peer, 'DELETE')).toBe(1));
    isFailing = true;
    await expect(fresh.callTool(callOf(peer.url, WORK))).resolves.toMatchObject({ text: 'done' });
    await vi.waitFor(() => expect(count(peer, 'DELETE')).toBe(2));
  });
});
