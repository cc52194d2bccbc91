import type { JsonValue } from '#engine/json';

/** What a run calls outside of the service. */
export enum CallKind {
  /** The language model of an agent. */
  Model = 'MODEL',
  /** A tool of an MCP server. */
  Tool = 'TOOL',
  /** An endpoint of a REST system. */
  Rest = 'REST',
}

/** Where a call of a run stands. */
export enum CallState {
  /** Begun; when a later attempt of the run finds it so, nobody knows whether it was made. */
  Claimed = 'CLAIMED',
  Done = 'DONE',
  /** It had no effect: not made at all, or refused by the other side. A later attempt may make it again. */
  Failed = 'FAILED',
  /** Its outcome was lost with its worker, and it must not be made twice: a person has to decide. */
  Unknown = 'UNKNOWN',
  /** A person has decided to have it made once more. */
  Released = 'RELEASED',
}

/** What a call has used up, as far as the other side told it. */
export interface CallUsage {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  /** In the currency of the provider. */
  readonly cost: number | null;
}

/** A call that a run is about to make. */
export interface OutsideCall {
  /** Names the call within its run, the same whenever the run is repeated: up to 191 characters, `<step>/<node id>/…`. */
  readonly key: string;
  readonly kind: CallKind;
  /** What readers of the run see of the question. No secrets: it is stored as it is, cut when it is too large. */
  readonly request: JsonValue;
  /** Whether making it twice does no harm, so that it may be made again when its outcome was lost. */
  readonly repeatable: boolean;
}

/** What came of a call, failed ones included. Stored, so no secrets. */
export interface CallResponse {
  /** What the run goes on with, now and whenever it is repeated. */
  readonly result: JsonValue;
  /** For readers of the run: upper snake case, up to 64 characters, such as `OK` or `TOOL_DISABLED`. */
  readonly outcome: string;
  readonly usage?: CallUsage;
}

/** Sees to it that no call of a run is made twice because its worker died (docs/agents.md, "After a crash"). */
export interface CallJournal {
  /**
   * Makes an outside call at most once for this run, however often the run begins anew. A finished call gives its stored
   * answer, whatever is asked now. Not inside of a transaction.
   * @param make makes the call. Whatever it answers is stored as the outcome. When it throws, the outcome counts as unknown,
   * with two exceptions after which a later attempt of the run may make the call again: a `CallNotMadeError`, whose cause is
   * thrown, and any failure of a repeatable call
   * @throws WorkflowFailedError with CALL_OUTCOME_UNKNOWN for `CallOutcomeUnknownError`, for a deadline during a call that is
   * not repeatable, and in a later attempt for such a call that may have been made
   * @throws RunReplacedError, LeaseLostError when the run was cancelled or is another worker's now: nothing more may be called
   */
  once(call: OutsideCall, make: () => Promise<CallResponse>): Promise<CallResponse>;
}
