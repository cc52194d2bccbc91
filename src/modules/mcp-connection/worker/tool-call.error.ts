import type { ToolCallFailureCause } from '../model/tool-call.types.js';

/** A tool call that failed for a known cause. The message is the cause: nothing foreign can be in it. */
export class ToolCallError extends Error {
  override readonly name = 'ToolCallError';
  constructor(readonly failure: ToolCallFailureCause) {
    super(failure);
  }
}
