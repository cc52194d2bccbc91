import type { ConnectedResult, ConnectionTestRequest, FailedResult } from '../model/connection-test.types.js';
import type { WorkerCancel, WorkerClose, WorkerJob } from '../../../platform/threads/serve-worker.js';
import type { JsonObject } from '#engine/json';
import type { ToolAnswer, ToolCallFailure, ToolCallRequest } from '../model/tool-call.types.js';

/** Asks the worker for a connection test. */
export type McpWorkerJob = WorkerJob<ConnectionTestRequest>;

/** The worker's answer; `tools` is one JSON document a line, in UTF-8, moved and not copied. */
export type McpWorkerAnswer = { id: number } & (
  { failed: FailedResult } | { connected: Omit<ConnectedResult, 'tools'>; tools: Uint8Array }
);

/** What crosses the thread of a call. */
export interface CallOrder extends Omit<ToolCallRequest, 'deadlineMs' | 'signal' | 'isStillAllowed'> {
  /** Names the session: equal for equal system, address and credentials, and gives none of them away. */
  sessionKey: string;
  /** Milliseconds from each progress of the tool on. */
  progressMs: number;
  /** Milliseconds since the epoch: no progress prolongs the call beyond. */
  endsAt: number;
}

/** A text of a model, and the schema that it is to be held against. */
export interface TextAndSchema {
  text: string;
  schema: JsonObject;
}

/** What such a text is: arguments of a tool, or an answer. */
export interface TextCheck extends TextAndSchema {
  of: 'arguments' | 'answer';
}

/** One job of the worker. */
export type ToolCallWork = CallOrder | { check: TextCheck };

/** To the worker: a call, the end of one, or of all. */
export type ToolCallMessage = WorkerJob<ToolCallWork> | WorkerCancel | WorkerClose;

/** The worker's answer; values as JSON text, which is cheaper to hand over than objects. */
export type ToolCallWorkerAnswer = { id: number } & (
  | { failed: ToolCallFailure }
  | { answered: Omit<ToolAnswer, 'structured'>; structuredJson: string | null }
  | { checked: { problem: string } | { valueJson: string } }
);

/** What the worker says without being asked. */
export type ToolCallNotice =
  | { openSessions: number }
  /** Id of a system whose server says that its list of tools has changed; at most one a minute for each session. */
  | { listChanged: string };
