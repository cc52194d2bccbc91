import type { ConnectionTestRequest, ConnectionTestResult } from '../model/connection-test.types.js';
import type { McpWorkerAnswer, McpWorkerSettings } from '../worker/mcp-worker.messages.js';
import { decodeTools } from './tool-transfer.js';
import { causeOfLoss, WorkerPool, type WorkerPoolOptions } from '../../../common/threads/worker.pool.js';

/** Jobs in flight at the most; each holds some 100 KB in the worker. */
const MAX_JOBS = 500;

/** How a worker for connection tests is run. */
interface WorkerOptions extends Pick<WorkerPoolOptions<never, never>, 'memoryMb' | 'niceness'> {
  /** File of the worker. @default the built worker of this package */
  entry?: string;
}

/** Runs connection tests in a worker thread of their own. A test that is lost with the worker answers `overloaded`. */
export function connectionTestPool(
  settings: McpWorkerSettings,
  { entry = '#mcp-worker', ...options }: WorkerOptions,
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
