import type { EntityManager } from 'typeorm';
import type { CallJournal, CallResponse, OutsideCall } from '../model/call-journal.types.js';
import { isClaim, unknownOutcome, type CallClaim, type CallStore } from './call-store.js';
import type { BegunRun } from './run-store.js';
import {
  CallNotMadeError,
  CallOutcomeUnknownError,
  WorkflowFailedError,
  type WorkflowFailure,
} from '../model/workflows.errors.js';

/** Failures that end whatever a run does at the time. */
const DEADLINES: ReadonlySet<WorkflowFailure> = new Set(['WORKFLOW_DEADLINE', 'AGENT_DEADLINE']);

const noHold = (): Promise<void> => Promise.resolve();

/** The calls of one attempt of a run. */
export class RunCalls implements CallJournal {
  /** @param hold see WorkflowRunRequest.hold */
  constructor(
    private readonly store: CallStore,
    private readonly run: BegunRun,
    private readonly hold: (manager: EntityManager) => Promise<void> = noHold,
  ) {}

  async once(call: OutsideCall, make: () => Promise<CallResponse>): Promise<CallResponse> {
    const begun = await this.store.begin(this.run, call, this.hold);
    if (!isClaim(begun)) {
      return begun;
    }
    let response: CallResponse;
    try {
      response = await make();
    } catch (error) {
      if (error instanceof CallNotMadeError) {
        await this.store.fail(begun, error.outcome);
        throw error.cause;
      }
      if (error instanceof CallOutcomeUnknownError) {
        await this.store.doubt(begun, error.outcome);
        throw unknownOutcome(call, error.message);
      }
      if (error instanceof WorkflowFailedError) {
        throw await this.failed(begun, call, error);
      }
      throw error;
    }
    await this.store.finish(begun, response);
    return response;
  }

  /** A failure that is not the worker's tells at once what a later attempt may do. */
  private async failed(
    claim: CallClaim,
    call: OutsideCall,
    error: WorkflowFailedError,
  ): Promise<WorkflowFailedError> {
    if (call.repeatable) {
      await this.store.fail(claim, error.code);
      return error;
    }
    await this.store.doubt(claim, error.code);
    // A deadline says nothing of the call, and who retries has to know of it.
    return DEADLINES.has(error.code) ? unknownOutcome(call, error.message) : error;
  }
}
