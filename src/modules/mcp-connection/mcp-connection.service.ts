import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { outboundLimits } from '../../common/outbound/outbound.limits.js';

import { Env } from '../../config/env.js';
import type { ConnectionTestRequest, ConnectionTestResult } from './model/connection-test.types.js';
import { outsideSettings } from './model/outside-settings.js';
import { connectionTestPool } from './pool/connection-test.pool.js';
import { mcpLimits } from './mcp.limits.js';

/** Tests connections to MCP servers. All traffic and all parsing happen in a worker thread. */
@Injectable()
export class McpConnectionService implements OnModuleDestroy {
  private readonly pool: ReturnType<typeof connectionTestPool>;
  private readonly deadlineMs: number;

  /** @throws EnvError at start when `EGRESS_ALLOW` cannot be read */
  constructor(env: Env) {
    this.deadlineMs = mcpLimits.testTimeoutMs;
    const settings = {
      ...outsideSettings(env, this.deadlineMs),
      maxResponseBytes: mcpLimits.maxResponseBytes,
      maxTotalBytes: mcpLimits.maxTotalBytes,
    };
    this.pool = connectionTestPool(settings, {
      memoryMb: mcpLimits.workerMemoryMb,
      niceness: outboundLimits.threadNiceness,
    });
  }

  /**
   * Connects to an MCP server and reads all its tools.
   *
   * Negotiates the protocol revision: 2026-07-28, older Streamable HTTP, HTTP+SSE as last resort. For a system with a service
   * account it gets a token by OAuth 2.0 client credentials. Ends within `testTimeoutMs`.
   * @returns the outcome as data; never rejects for anything an outside party does
   */
  test(request: ConnectionTestRequest): Promise<ConnectionTestResult> {
    return this.pool.run(request, this.deadlineMs);
  }

  /**
   * Connects to an MCP server without credentials, reads its own description, and ends the session. Cheap: reads no tools.
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
