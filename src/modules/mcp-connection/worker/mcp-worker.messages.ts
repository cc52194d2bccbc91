import type { ConnectedResult, ConnectionTestRequest, FailedResult } from '../model/connection-test.types.js';
import type { OutsideSettings } from '../model/outside-settings.js';
import type { WorkerJob } from '../../../common/threads/worker-job.js';

/** Settings of the worker that tests connections. */
export interface McpWorkerSettings extends OutsideSettings {
  maxResponseBytes: number;
  maxTotalBytes: number;
}

/** Asks the worker for a connection test. */
export type McpWorkerJob = WorkerJob<ConnectionTestRequest>;

/** The worker's answer; `tools` is one JSON document a line, in UTF-8, moved and not copied. */
export type McpWorkerAnswer = { id: number } & (
  { failed: FailedResult } | { connected: Omit<ConnectedResult, 'tools'>; tools: Uint8Array }
);
