import { Injectable, type OnModuleDestroy } from '@nestjs/common';

import { configuredPolicy } from '../../common/outbound/configured-policy.js';
import { Env } from '../../config/env.js';
import type { ConnectionTestRequest, ConnectionTestResult } from './model/connection-test.types.js';
import { McpWorkerPool } from './pool/mcp-worker.pool.js';
import { toolListLimits } from './model/tool-list-limits.js';
import type { McpWorkerSettings } from './worker/mcp-worker.messages.js';

/** Tests connections to MCP servers. All traffic and all parsing happen in a worker thread. */
@Injectable()
export class McpConnectionService implements OnModuleDestroy {
  private readonly pool: McpWorkerPool;

  /** @throws EnvError at start when `EGRESS_ALLOW` cannot be read */
  constructor(env: Env) {
    const settings = workerSettings(env);
    this.pool = new McpWorkerPool({
      settings,
      memoryMb: env.get('MCP_WORKER_MEMORY_MB'),
      niceness: env.get('MCP_WORKER_NICENESS'),
      deadlineMs: env.get('MCP_TEST_TIMEOUT_MS'),
    });
  }

  /**
   * Connects to an MCP server and reads all its tools.
   *
   * Negotiates the protocol revision (2026-07-28, older Streamable HTTP, HTTP+SSE as last resort) and gets a token by
   * OAuth 2.0 client credentials where the system has a service account. Ends within `MCP_TEST_TIMEOUT_MS`.
   * @returns the outcome as data; never rejects for anything an outside party does
   */
  test(request: ConnectionTestRequest): Promise<ConnectionTestResult> {
    return this.pool.run(request);
  }

  /**
   * Connects to an MCP server without credentials, hears what it says of itself and takes leave. Cheap: reads no tools.
   * @param deadlineMs milliseconds until the outcome
   * @returns as `test`
   */
  greet(baseUrl: string, deadlineMs: number): Promise<ConnectionTestResult> {
    const credentials = { type: 'NO_AUTH' as const };
    return this.pool.run({ baseUrl, credentials, knownToolCount: 0, greetOnly: true }, deadlineMs);
  }

  /** Waits for the tests in flight, then stops the worker. */
  async onModuleDestroy(): Promise<void> {
    await this.pool.close();
  }
}

function workerSettings(env: Env): McpWorkerSettings {
  return {
    policy: configuredPolicy(env),
    maxRedirects: env.get('EGRESS_MAX_REDIRECTS'),
    connectTimeoutMs: env.get('EGRESS_CONNECT_TIMEOUT_MS'),
    maxResponseBytes: env.get('MCP_MAX_RESPONSE_BYTES'),
    maxTotalBytes: env.get('MCP_MAX_TOTAL_BYTES'),
    tokenMaxBytes: env.get('TOKEN_ENDPOINT_MAX_BYTES'),
    tokenTimeoutMs: env.get('MCP_TEST_TIMEOUT_MS'),
    toolList: toolListLimits(env),
  };
}
