import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { outboundLimits } from '../../../src/platform/outbound/outbound.limits.js';
import { Env } from '../../../src/platform/config/env.js';
import { Metrics } from '../../../src/platform/observability/metrics/metrics.js';
import { definitionHash } from '../../../src/platform/json/tool-definition-hash.js';
import { McpConnectionService } from '../../../src/systems/mcp-connection/mcp-connection.service.js';
import type { ToolCallRequest } from '../../../src/systems/mcp-connection/model/tool-call.types.js';
import { ToolCallsService } from '../../../src/systems/mcp-connection/calls/tool-calls.service.js';
import { cpuMicros } from '../processor.js';
import { median } from '../table.js';
import { startServer } from '../server-process.js';

const TEXT = 'The quick brown fox jumps over the lazy dog.';
const CALLERS = [1, 8] as const;
const SERVERS = ['official', 'bare'] as const;

/** Calls the tool once; throws if the call fails. */
type Way = () => Promise<void>;

interface Round {
  perSecond: number;
  p50: number;
  p99: number;
  /** Processor time of this process per call, all threads included, in microseconds. */
  cpuMicros: number;
}

/**
 * Compares tool calls through the service's client (worker thread, guarded connections, definition check) with direct calls
 * through the client library it is built on, alternately in the same process.
 */
export async function benchToolCalls({
  rounds,
  seconds,
}: {
  rounds: number;
  seconds: number;
}): Promise<void> {
  const env = Env.parse('evaluation', {});
  outboundLimits.threadNiceness = 0;
  const calls = new ToolCallsService(env, new Metrics());
  const tests = new McpConnectionService(env);
  const servers = await Promise.all(SERVERS.map((kind) => startServer('mcp', { KIND: kind })));
  for (const [index, kind] of SERVERS.entries()) {
    const server = servers[index]!;
    const url = `${server.url}/mcp`;
    const client = new Client({ name: 'bench', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    const ways = { service: throughService(calls, await request(tests, url)), direct: directly(client) };
    console.log(`\ntool calls, ${kind} server, ${rounds} rounds of ${seconds} s`);
    for (const callers of CALLERS) {
      await compare(ways, { callers, rounds, seconds });
    }
    await client.close();
    server.stop();
  }
  await calls.onModuleDestroy();
  await tests.onModuleDestroy();
}

async function compare(
  ways: Record<'service' | 'direct', Way>,
  { callers, rounds, seconds }: { callers: number; rounds: number; seconds: number },
): Promise<void> {
  const results: Record<'service' | 'direct', Round[]> = { service: [], direct: [] };
  await Promise.all([round(ways.service, callers, 1), round(ways.direct, callers, 1)]); // warm-up
  for (let index = 0; index < rounds; index += 1) {
    results.direct.push(await round(ways.direct, callers, seconds));
    results.service.push(await round(ways.service, callers, seconds));
  }
  for (const name of ['service', 'direct'] as const) {
    const figure = (key: keyof Round): number => median(results[name].map((result) => result[key]));
    console.log(
      `${callers} callers  ${name.padEnd(8)}${figure('perSecond').toFixed(0).padStart(6)} calls/s  p50 ${figure('p50').toFixed(2)} ms  ` +
        `p99 ${figure('p99').toFixed(2)} ms  CPU ${figure('cpuMicros').toFixed(0)} us/call`,
    );
  }
  const pairs = results.service.map((service, index) => ({ service, direct: results.direct[index]! }));
  const ratio = median(pairs.map(({ service, direct }) => service.perSecond / direct.perSecond));
  const added = median(pairs.map(({ service, direct }) => service.p50 - direct.p50));
  console.log(
    `${callers} callers  service / direct ${ratio.toFixed(2)}, median overhead ${added.toFixed(2)} ms`,
  );
}

async function round(call: Way, callers: number, seconds: number): Promise<Round> {
  const latencies: number[] = [];
  const cpuBefore = cpuMicros(process.pid);
  const start = performance.now();
  const end = start + seconds * 1_000;
  await Promise.all(
    Array.from({ length: callers }, async () => {
      for (let before = performance.now(); before < end;) {
        await call();
        const after = performance.now();
        latencies.push(after - before);
        before = after;
      }
    }),
  );
  const elapsed = performance.now() - start;
  const sorted = latencies.toSorted((one, other) => one - other);
  return {
    perSecond: (latencies.length * 1_000) / elapsed,
    p50: sorted[Math.floor(sorted.length / 2)]!,
    p99: sorted[Math.floor(sorted.length * 0.99)]!,
    cpuMicros: (cpuMicros(process.pid) - cpuBefore) / latencies.length,
  };
}

function throughService(calls: ToolCallsService, call: ToolCallRequest): Way {
  return async () => {
    const result = await calls.callTool(call);
    if (result.outcome !== 'answered' || result.text !== TEXT) {
      throw new Error(`the call failed, so nothing was measured: ${JSON.stringify(result)}`);
    }
  };
}

function directly(client: Client): Way {
  return async () => {
    const { content } = await client.callTool({ name: 'echo', arguments: { text: TEXT } });
    if (!Array.isArray(content) || content[0]?.type !== 'text' || content[0].text !== TEXT) {
      throw new Error('the call failed, so nothing was measured');
    }
  };
}

/** Returns the request to call the tool that a connection test found. */
async function request(tests: McpConnectionService, baseUrl: string): Promise<ToolCallRequest> {
  const credentials = { type: 'NO_AUTH' as const };
  const test = await tests.test({ baseUrl, credentials, knownToolCount: 0 });
  const tool = test.outcome === 'connected' ? test.tools[0] : undefined;
  if (tool === undefined) {
    throw new Error(`the server lists no tool: ${JSON.stringify(test)}`);
  }
  return {
    systemId: baseUrl,
    baseUrl,
    credentials,
    tool: { ...tool, definitionHash: definitionHash(tool) },
    arguments: { text: TEXT },
    deadlineMs: 10_000,
  };
}
