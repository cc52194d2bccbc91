import type { ConnectionTestRequest, ConnectionTestResult } from '../model/connection-test.types.js';
import { decodeTools } from './tool-transfer.js';
import type { McpWorkerAnswer, McpWorkerSettings } from '../worker/mcp-worker.messages.js';
import { WorkerPool } from './worker.pool.js';

/** How the pool runs its worker. */
export interface McpWorkerPoolOptions {
  settings: McpWorkerSettings;
  /** Old generation heap of the worker in megabytes. */
  memoryMb: number;
  /** How far the worker stands back for the main thread, 0 to 19. */
  niceness: number;
  /** Deadline of one job, from being asked to being answered. */
  deadlineMs: number;
  /** File of the worker. @default the built worker of this package */
  entry?: string;
}

/** Jobs in flight at the most; each holds some 100 KB in the worker. */
const MAX_JOBS = 500;

/** Runs connection tests in a worker thread of their own. */
export class McpWorkerPool {
  private readonly pool: WorkerPool<ConnectionTestRequest, McpWorkerAnswer, ConnectionTestResult>;
  private readonly deadlineMs: number;

  constructor({ settings, memoryMb, niceness, deadlineMs, entry = '#mcp-worker' }: McpWorkerPoolOptions) {
    this.deadlineMs = deadlineMs;
    this.pool = new WorkerPool({
      name: 'mcp-connection',
      entry,
      workerData: settings,
      memoryMb,
      niceness,
      maxJobs: MAX_JOBS,
      read: async (answer) =>
        'failed' in answer ? answer.failed : { ...answer.connected, tools: await decodeTools(answer.tools) },
      lost: (cause, latencyMs) => ({ outcome: 'unreachable', cause, latencyMs }),
    });
  }

  /**
   * Runs one test. Never rejects; a job lost with the worker answers `overloaded`.
   * @param deadlineMs for this job. @default that of the pool
   */
  run(request: ConnectionTestRequest, deadlineMs = this.deadlineMs): Promise<ConnectionTestResult> {
    return this.pool.run(request, deadlineMs);
  }

  /** Takes no more jobs, waits for those in flight (each ends with its deadline) and stops the worker. */
  close(): Promise<void> {
    return this.pool.close();
  }
}
