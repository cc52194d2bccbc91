import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { Metrics } from '../../../src/platform/observability/metrics/metrics.js';
import type { DiscoveredTool } from '../../../src/systems/mcp-connection/model/connection-test.types.js';
import {
  connectionService,
  noAuth,
  callOf,
  stopServices,
  toolCallsService,
} from '../../support/peers/mcp-services.js';
import { type ProcessPeer, startEverything, startModernPeer } from '../../support/peers/official.peers.js';
import { keptPeers } from '../../support/peers/kept-peers.js';

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const keep = keptPeers();

describe('Tool calls to well-behaved servers', () => {
  const tests = connectionService();
  const calls = toolCallsService();
  let streamable: ProcessPeer;
  let sse: ProcessPeer;
  beforeAll(async () => {
    [streamable, sse] = await Promise.all([startEverything('streamableHttp'), startEverything('sse')]);
  });
  afterAll(async () => {
    await stopServices();
    await Promise.all([streamable.close(), sse.close()]);
  });

  /** Returns the tools of a server as a connection test stores them. */
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

  it('reports errors of a tool, and counts calls without data of the server', async () => {
    const metrics = new Metrics();
    const counted = toolCallsService({ 'mcpCallLimits.breakerFailures': '1' }, metrics);
    const tools = await reviewed(streamable.url);
    const gone = await startModernPeer([]);
    await gone.close();
    const results = [
      await counted.callTool(
        callOf(streamable.url, tools.get('echo')!, { arguments: { message: 'CANARY' } }),
      ),
      await counted.callTool(callOf(streamable.url, tools.get('echo')!, { arguments: {} })),
      await counted.callTool(callOf(gone.url, tools.get('echo')!)),
      await counted.callTool(callOf(gone.url, tools.get('echo')!)),
    ];
    expect(results).toMatchObject([
      { outcome: 'answered', isError: false },
      { outcome: 'answered', isError: true },
      { outcome: 'failed', cause: 'refused' },
      { outcome: 'failed', cause: 'circuit_open' },
    ]);
    const text = await metrics.text();
    expect(text).toContain('svc_mcp_tool_calls_total{outcome="answered",cause="none"} 1');
    expect(text).toContain('svc_mcp_tool_calls_total{outcome="tool_error",cause="none"} 1');
    expect(text).toContain('svc_mcp_tool_calls_total{outcome="failed",cause="refused"} 1');
    expect(text).toContain('svc_mcp_tool_calls_total{outcome="failed",cause="circuit_open"} 1');
    expect(text).toContain('svc_mcp_tool_call_duration_seconds_count{outcome="failed"} 2');
    expect(text).toContain('svc_mcp_circuit_breakers{state="open"} 1');
    expect(text).toContain('svc_mcp_call_sessions 2');
    expect(text).not.toContain('CANARY');
    expect(text).not.toContain('127.0.0.1');
  });

  it('returns every kind of content of the official server as text', async () => {
    const tools = await reviewed(streamable.url);
    const image = [...tools.keys()].find((name) => /image/i.test(name)) ?? '';
    const result = await calls.callTool(callOf(streamable.url, tools.get(image)!));
    expect(result).toMatchObject({
      outcome: 'answered',
      text: expect.stringMatching(/\[image image\/png, \d+ bytes\]/),
    });
    const structured = [...tools.values()].find(({ outputSchema }) => outputSchema !== null)!;
    const call = callOf(streamable.url, structured, { arguments: { location: 'New York' } });
    await expect(calls.callTool(call)).resolves.toMatchObject({
      structured: { temperature: expect.any(Number) },
    });
  });
});
