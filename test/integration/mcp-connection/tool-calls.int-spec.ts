import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import type { DiscoveredTool } from '../../../src/modules/mcp-connection/connection-test.types.js';
import { connectionService, noAuth, stopServices } from '../../support/peers/connection-tests.js';
import { type ProcessPeer, startEverything } from '../../support/peers/everything.peer.js';
import { startModernPeer } from '../../support/peers/modern.peer.js';
import type { Peer } from '../../support/peers/peer.js';
import { callOf, stopToolCalls, toolCallsService } from '../../support/peers/tool-calls.js';

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const open: Peer[] = [];
const keep = async <T extends Peer>(starting: Promise<T>): Promise<T> => {
  const peer = await starting;
  open.push(peer);
  return peer;
};

describe('Tool calls to servers that behave', () => {
  const tests = connectionService();
  const calls = toolCallsService();
  let streamable: ProcessPeer;
  let sse: ProcessPeer;
  beforeAll(async () => {
    [streamable, sse] = await Promise.all([startEverything('streamableHttp'), startEverything('sse')]);
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((peer) => peer.close()));
  });
  afterAll(async () => {
    await Promise.all([stopServices(), stopToolCalls()]);
    await Promise.all([streamable.close(), sse.close()]);
  });

  /** The tools of a server as a connection test stores them. */
  async function reviewed(baseUrl: string): Promise<Map<string, DiscoveredTool>> {
    const result = await tests.test(noAuth(baseUrl));
    const tools = result.outcome === 'connected' ? result.tools : [];
    return new Map(tools.map((tool) => [tool.name, tool]));
  }

  it.each(['streamable', 'sse'] as const)('calls the official server over %s', async (kind) => {
    const { url } = kind === 'sse' ? sse : streamable;
    const tools = await reviewed(url);
    const echo = callOf(url, tools.get('echo')!, { arguments: { message: 'hello' } });
    for (let round = 0; round < 3; round += 1) {
      await expect(calls.callTool(echo)).resolves.toMatchObject({
        outcome: 'answered',
        isError: false,
        text: 'Echo: hello',
        structured: null,
      });
    }
  });

  it('calls a modern server with the trace context', async () => {
    const peer = await keep(startModernPeer([{ name: 'first' }]));
    const tools = await reviewed(peer.url);
    const call = callOf(peer.url, tools.get('first')!, {
      arguments: { text: 'hello' },
      traceparent: TRACEPARENT,
    });
    await expect(calls.callTool(call)).resolves.toMatchObject({ outcome: 'answered', text: 'hello' });
    expect(peer.traceparents.at(-1)).toBe(TRACEPARENT);
  });
});
