import type { ConnectedResult, ConnectionTestRequest, FailedResult } from '../model/connection-test.types.js';
import type { WorkerCancel, WorkerClose, WorkerJob } from '../../../platform/threads/serve-worker.js';
import type { JsonObject } from '#engine/json';
import type { ToolAnswer, ToolCallFailure, ToolCallRequest } from '../model/tool-call.types.js';

/** Request to the worker for a connection test. */
export type McpWorkerJob = WorkerJob<ConnectionTestRequest>;

/** Answer of the worker. `tools` contains one JSON document per line in UTF-8 and is transferred, not copied. */
export type McpWorkerAnswer = { id: number } & (
  { failed: FailedResult } | { connected: Omit<ConnectedResult, 'tools'>; tools: Uint8Array }
);

/** Request to the worker for a tool call. */
export interface CallOrder extends Omit<ToolCallRequest, 'deadlineMs' | 'signal' | 'isStillAllowed'> {
  /** Key of the session: equal for equal system, address and credentials, and reveals none of them. */
  sessionKey: string;
  /** Deadline in milliseconds after each progress of the tool. */
  progressMs: number;
  /** Final deadline in milliseconds since the epoch, which progress cannot extend. */
  endsAt: number;
}

/** A text of a model and the schema to validate it against. */
export interface TextAndSchema {
  text: string;
  schema: JsonObject;
}

/** A text to validate, and whether it contains arguments of a tool or an answer. */
export interface TextCheck extends TextAndSchema {
  of: 'arguments' | 'answer';
}

/** One job of the worker. */
export type ToolCallWork = CallOrder | { check: TextCheck };

/** Message to the worker: a job, the cancellation of one, or the end of all. */
export type ToolCallMessage = WorkerJob<ToolCallWork> | WorkerCancel | WorkerClose;

/** Answer of the worker. Values are JSON text, which is cheaper to transfer than objects. */
export type ToolCallWorkerAnswer = { id: number } & (
  | { failed: ToolCallFailure }
  | { answered: Omit<ToolAnswer, 'structured'>; structuredJson: string | null }
  | { checked: { problem: string } | { valueJson: string } }
);

/** Unsolicited message of the worker. */
export type ToolCallNotice =
  | { openSessions: number }
  /** Id of a system whose server reports a changed tool list; at most one per minute and session. */
  | { listChanged: string };
