import type { EntityManager } from 'typeorm';
import type { CallJournal, CallResponse, OutsideCall } from './call-journal.types.js';
import { isClaim, unknownOutcome, type CallStore } from './call-store.js';
import type { BegunRun } from './run-store.js';
import { CallNotMadeError, CallOutcomeUnknownError } from './workflows.errors.js';

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
      throw error;
    }
    await this.store.finish(begun, response);
    return response;
  }
}
