import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type {
  ConnectionTestRequest,
  ConnectionTestResult,
  DiscoveredTool,
} from './model/connection-test.types.js';
import { yieldEventLoop } from '#engine/support';
import { type McpWorkerSettings, workerSettings } from './model/worker-settings.js';
import type { McpWorkerAnswer } from './worker/worker.messages.js';
import { causeOfLoss, WorkerPool, type WorkerPoolOptions } from '../../platform/threads/worker.pool.js';
import { outboundLimits } from '../../platform/outbound/outbound.limits.js';
import { Env } from '../../platform/config/env.js';
import { mcpLimits } from './mcp.limits.js';

/** Maximum number of concurrent jobs; each uses about 100 KB in the worker. */
const MAX_JOBS = 500;

/** Creates a pool that runs connection tests in a separate worker thread. A test that is lost with its worker fails as `overloaded`. */
export function connectionTestPool(
  settings: McpWorkerSettings,
  {
    entry = '#mcp-worker',
    ...options
  }: Pick<WorkerPoolOptions<never, never>, 'memoryMb' | 'niceness'> & {
    entry?: string;
  },
): WorkerPool<ConnectionTestRequest, McpWorkerAnswer, ConnectionTestResult> {
  return new WorkerPool({
    name: 'mcp-connection',
    entry,
    workerData: settings,
    ...options,
    maxJobs: MAX_JOBS,
    read: async (answer) =>
      'failed' in answer ? answer.failed : { ...answer.connected, tools: await decodeTools(answer.tools) },
    lost: (cause, latencyMs) => ({ outcome: 'unreachable', cause: causeOfLoss(cause), latencyMs }),
  });
}

const NEW_LINE = 10;

/** Parses the worker's tools, one JSON document per line, yielding in between so that a list of several megabytes does not block this thread. */
async function decodeTools(lines: Uint8Array): Promise<DiscoveredTool[]> {
  const tools: DiscoveredTool[] = [];
  const decoder = new TextDecoder();
  for (let start = 0; start < lines.byteLength;) {
    const newLine = lines.indexOf(NEW_LINE, start);
    const end = newLine === -1 ? lines.byteLength : newLine;
    tools.push(JSON.parse(decoder.decode(lines.subarray(start, end))) as DiscoveredTool);
    start = end + 1;
    await yieldEventLoop();
  }
  return tools;
}

/** Tests connections to MCP servers. All traffic and all parsing happen in a worker thread. */
@Injectable()
export class McpConnectionService implements OnModuleDestroy {
  private readonly pool: ReturnType<typeof connectionTestPool>;
  private readonly deadlineMs = mcpLimits.testTimeoutMs;

  /** @throws EnvError at start when `EGRESS_ALLOW` cannot be read */
  constructor(env: Env) {
    this.pool = connectionTestPool(workerSettings(env), {
      memoryMb: mcpLimits.workerMemoryMb,
      niceness: outboundLimits.threadNiceness,
    });
  }

  /**
   * Connects to an MCP server with the credentials of the system, negotiates the protocol revision and reads all tools.
   * @returns the outcome as data within `testTimeoutMs`, not counting the time the worker needs to load; never rejects because of an
   * external party
   */
  async test(request: ConnectionTestRequest): Promise<ConnectionTestResult> {
    await this.pool.ready();
    return this.pool.run(request, this.deadlineMs);
  }

  /** Connects without credentials and reads only the self-description of the server. */
  greet(baseUrl: string, deadlineMs: number): Promise<ConnectionTestResult> {
    const credentials = { type: 'NO_AUTH' as const };
    return this.pool.run({ baseUrl, credentials, knownToolCount: 0, greetOnly: true }, deadlineMs);
  }

  /** Waits for the tests in flight, then stops the worker. */
  async onModuleDestroy(): Promise<void> {
    await this.pool.close();
  }
}
