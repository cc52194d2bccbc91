import type { AddressPolicyOptions } from '../../../common/outbound/address-policy.js';
import type { ConnectedResult, ConnectionTestRequest, FailedResult } from '../connection-test.types.js';
import type { ToolListLimits } from './tool-list.reader.js';

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
export interface McpWorkerJob {
  id: number;
  request: ConnectionTestRequest;
  /** Milliseconds since the epoch: the time a job waits in the queue counts. */
  deadlineAt: number;
}

/** The first message of a worker: it is loaded and takes jobs. */
export const WORKER_READY = 'ready';

/** The worker's answer; `tools` is one JSON document a line, in UTF-8, moved and not copied. */
export type McpWorkerAnswer = { id: number } & (
  { failed: FailedResult } | { connected: Omit<ConnectedResult, 'tools'>; tools: Uint8Array }
);
