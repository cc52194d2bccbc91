import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { tryStart } from '../../support/discovery/local-server.js';
import { startRedis, type ProbedServer } from '../../support/discovery/servers.js';
import {
  type ScriptedCall,
  type ScriptedMcpPeer,
  sendResult,
  startScriptedMcp,
} from '../../support/peers/scripted-mcp.peer.js';
import {
  callOf,
  definition,
  sharingToolCalls,
  type SharingToolCalls,
  stopToolCalls,
} from '../../support/peers/tool-calls.js';

const WORK = definition('work');
const MOST = 2;
const CALLS = 8;
const ANSWER_MS = 20;
/** A thread that calls tools takes long to start on a busy machine. */
const DEADLINE_MS = 60_000;
const { server: started, missing } = await tryStart(() => startRedis());
if (missing !== undefined) {
  console.log(`tests of tool calls of several replicas: skipped, ${missing}`);
}

describe.skipIf(started === undefined)('Tool calls of several replicas, with Redis', () => {
  const redis = started as ProbedServer;
  let peer: ScriptedMcpPeer;
  let answer: (call: ScriptedCall) => void;
  let replicas: SharingToolCalls[];
  let atOnce: { now: number; most: number };

  const done = ({ id, response }: ScriptedCall): void =>
    sendResult(response, id, { content: [{ type: 'text', text: 'done' }] });
  const slowly = (call: ScriptedCall): void => {
    atOnce.now += 1;
    atOnce.most = Math.max(atOnce.most, atOnce.now);
    setTimeout(() => {
      atOnce.now -= 1;
      done(call);
    }, ANSWER_MS);
  };

  beforeEach(async () => {
    atOnce = { now: 0, most: 0 };
    answer = slowly;
    peer = await startScriptedMcp({
      list: ({ id, response }) =>
        sendResult(response, id, { tools: [{ name: 'work', inputSchema: { type: 'object' } }] }),
      call: (call) => answer(call),
    });
    const settings = {
      REDIS_URL: `redis://default:admin@127.0.0.1:${redis.port}`,
      MCP_CALL_MAX_IN_FLIGHT_PER_SYSTEM: String(MOST),
      MCP_CALL_BREAKER_FAILURES: '2',
      MCP_CALL_BREAKER_OPEN_MS: '4000',
      MCP_CALL_CONNECT_TIMEOUT_MS: String(DEADLINE_MS),
      REDIS_TIMEOUT_MS: '20000',
    };
    replicas = [await sharingToolCalls(settings), await sharingToolCalls(settings)];
    await vi.waitFor(() => {
      expect(replicas.every(({ redis: { shared } }) => shared?.redis.isReady)).toBe(true);
    });
  });
  afterEach(async () => {
    await stopToolCalls();
    replicas.forEach(({ redis: service }) => service.onApplicationShutdown());
    await peer.close();
  });
  afterAll(async () => {
    await started?.server.stop();
  });

  const call = () => callOf(peer.url, WORK, { deadlineMs: DEADLINE_MS });
  const callAll = async (): Promise<string[]> => {
    const results = await Promise.all(
      replicas.flatMap(({ calls }) => Array.from({ length: CALLS }, () => calls.callTool(call()))),
    );
    return results.map((result) => (result.outcome === 'failed' ? result.cause : result.text));
  };
  const circuits = async (state: string, number: number): Promise<void> => {
    await vi.waitFor(async () => {
      for (const { metrics } of replicas) {
        expect(await metrics.text()).toContain(`svc_mcp_circuit_breakers{state="${state}"} ${number}`);
      }
    });
  };

  it('are under way with one system as many as one replica may have, and the others wait', async () => {
    expect(new Set(await callAll())).toEqual(new Set(['done']));
    expect(atOnce.most).toBe(MOST);
  });

  it('are counted by each replica alone while Redis is away', async () => {
    await redis.server.kill();
    try {
      const held: ScriptedCall[] = [];
      answer = (called) => held.push(called);
      const results = callAll();
      await vi.waitFor(() => expect(held).toHaveLength(2 * MOST));
      answer = slowly;
      held.forEach(done);
      expect(new Set(await results)).toEqual(new Set(['done']));
    } finally {
      await redis.server.restart();
    }
  });

  it('leave a system alone in all replicas, and try it in one of them', async () => {
    const [one, other] = replicas as [SharingToolCalls, SharingToolCalls];
    answer = ({ response }) => response.writeHead(503).end();
    for (let index = 0; index < 2; index += 1) {
      await expect(one.calls.callTool(call())).resolves.toMatchObject({ cause: 'http_error' });
    }
    await circuits('open', 1);
    await expect(other.calls.callTool(call())).resolves.toMatchObject({ cause: 'circuit_open' });
    expect(peer.seen.filter((method) => method === 'tools/call')).toHaveLength(2);

    await circuits('half_open', 1);
    const tried: ScriptedCall[] = [];
    answer = (trial) => tried.push(trial);
    const trials = replicas.map(({ calls }) => calls.callTool(call()));
    await expect(Promise.race(trials)).resolves.toMatchObject({ cause: 'circuit_open' });
    await vi.waitFor(() => expect(tried).toHaveLength(1));
    answer = done;
    tried.forEach(done);
    await circuits('half_open', 0);
    await expect(Promise.all(trials)).resolves.toContainEqual(expect.objectContaining({ text: 'done' }));
    expect(new Set(await callAll())).toEqual(new Set(['done']));
  });
});
