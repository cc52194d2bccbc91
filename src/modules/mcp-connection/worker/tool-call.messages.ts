import type { AddressPolicyOptions } from '../../../common/outbound/address-policy.js';
import type { ToolAnswer, ToolCallFailure, ToolCallRequest } from '../model/tool-call.types.js';
import type { WorkerCancel, WorkerClose, WorkerJob } from './worker-job.js';
import type { ToolListLimits } from '../model/tool-list-limits.js';

/** Settings of the worker that calls tools, handed over once as `workerData`. Plain data without secrets. */
export interface ToolCallWorkerSettings {
  policy: AddressPolicyOptions;
  maxRedirects: number;
  connectTimeoutMs: number;
  tokenMaxBytes: number;
  tokenTimeoutMs: number;
  /** Connecting and reading the tools. */
  opening: { deadlineMs: number; maxResponseBytes: number; maxTotalBytes: number };
  toolList: ToolListLimits;
  maxResultBytes: number;
  listMaxAgeMs: number;
  idleMs: number;
  maxSessions: number;
  /** TOOL_CHANGE_POLICY=accept: a tool is called although its definition has changed. */
  acceptsChanges: boolean;
}

/** What crosses the thread of a call. */
export interface CallOrder extends Omit<ToolCallRequest, 'deadlineMs' | 'signal'> {
  /** Names the session: equal for equal system, address and credentials, and gives none of them away. */
  sessionKey: string;
}

/** To the worker: a call, the end of one, or of all. */
export type ToolCallMessage = WorkerJob<CallOrder> | WorkerCancel | WorkerClose;

/** The worker's answer; structured content as JSON text, which is cheaper to hand over than objects. */
export type ToolCallWorkerAnswer = { id: number } & (
  { failed: ToolCallFailure } | { answered: Omit<ToolAnswer, 'structured'>; structuredJson: string | null }
);

/** What the worker says without being asked. */
export interface ToolCallNotice {
  openSessions: number;
}
