import type { AddressPolicyOptions } from '../../../common/outbound/address-policy.js';
import type { ConnectedResult, ConnectionTestRequest, FailedResult } from '../model/connection-test.types.js';
import type { WorkerJob } from './worker-job.js';
import type { ToolListLimits } from '../model/tool-list-limits.js';

/** Settings of the worker, handed over once as `workerData`. Plain data without secrets. */
export interface McpWorkerSettings {
  policy: AddressPolicyOptions;
  maxRedirects: number;
  connectTimeoutMs: number;
  maxResponseBytes: number;
  maxTotalBytes: number;
  tokenMaxBytes: number;
  tokenTimeoutMs: number;
  toolList: ToolListLimits;
}

/** Asks the worker for a connection test. */
export type McpWorkerJob = WorkerJob<ConnectionTestRequest>;

/** The worker's answer; `tools` is one JSON document a line, in UTF-8, moved and not copied. */
export type McpWorkerAnswer = { id: number } & (
  { failed: FailedResult } | { connected: Omit<ConnectedResult, 'tools'>; tools: Uint8Array }
);
