import type { JsonValue } from '../../../common/json.js';

/** How a call by hand ended. */
export enum HandCallOutcome {
  Ok = 'OK',
  ToolError = 'TOOL_ERROR',
  Failed = 'FAILED',
}

/** A call of a tool by a person. */
export interface HandCall {
  outcome: HandCallOutcome;
  /** Why there is no answer. */
  message: string | null;
  /** Without an answer: whether the tool may have run. */
  mayHaveRun: boolean | null;
  text: string;
  structured: JsonValue | null;
  latencyMs: number;
}
