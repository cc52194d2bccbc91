import type { JsonValue } from '#engine/json';

/** Kind of an outside call of a run. */
export enum CallKind {
  /** The language model of an agent. */
  Model = 'MODEL',
  /** A tool of an MCP server. */
  Tool = 'TOOL',
  /** An endpoint of a REST system. */
  Rest = 'REST',
}

/** State of an outside call. */
export enum CallState {
  /** Started. If a later attempt of the run finds this state, it is unknown whether the call was made. */
  Claimed = 'CLAIMED',
  Done = 'DONE',
  /** Without effect: not made, or rejected by the other side. A later attempt may repeat it. */
  Failed = 'FAILED',
  /** Outcome lost with the worker, and the call must not be repeated automatically: a person has to decide. */
  Unknown = 'UNKNOWN',
  /** A person has decided to repeat it. */
  Released = 'RELEASED',
}

/** Usage of a call, as reported by the other side. */
export interface CallUsage {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  /** In the currency of the provider. */
  readonly cost: number | null;
}

/** Outside call that a run is about to make. */
export interface OutsideCall {
  /** Key within the run, the same in every attempt: up to 191 characters, `<step>/<node id>/…`. */
  readonly key: string;
  readonly kind: CallKind;
  /** Request as shown to readers of the run. Must not contain secrets; truncated if too large. */
  readonly request: JsonValue;
  /** Whether the call is safe to repeat after its outcome was lost. */
  readonly repeatable: boolean;
}

/** Outcome of a call, including failures. Stored, so it must not contain secrets. */
export interface CallResponse {
  /** Value used by the run, in this and later attempts. */
  readonly result: JsonValue;
  /** Outcome code for readers of the run: upper snake case, up to 64 characters, such as `OK` or `TOOL_DISABLED`. */
  readonly outcome: string;
  readonly usage?: CallUsage;
}

/** Prevents outside calls from being repeated after a worker crash (docs/agents.md, "After a crash"). */
export interface CallJournal {
  /**
   * Makes an outside call, or returns the stored response of a finished one, regardless of the new request. Only repeatable calls
   * are made again after a crash. Must not run inside a transaction.
   * @param make makes the call. Its response is stored. If it throws, the outcome counts as unknown, with two exceptions
   * after which a later attempt may repeat the call: a `CallNotMadeError`, whose cause is thrown, and any failure of a
   * repeatable call
   * @throws WorkflowFailedError with CALL_OUTCOME_UNKNOWN for `CallOutcomeUnknownError`, for a deadline during a call that is
   * not repeatable, and in a later attempt for such a call that may have been made
   * @throws RunReplacedError, LeaseLostError when the run was cancelled or taken over by another worker
   */
  once(call: OutsideCall, make: () => Promise<CallResponse>): Promise<CallResponse>;
}
