import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { JsonValue } from '#engine/json';
import type { Page } from '../../../../platform/validation/page.js';
import { Clock } from '../../../../platform/clock.js';
import { Database } from '../../../../store/database.js';
import { storedBytes } from '../../../../store/tables/column-values.js';
import {
  CallState,
  type CallJournal,
  type CallResponse,
  type OutsideCall,
} from '../model/call-journal.types.js';
import type { WorkflowCallEntity } from '../storage/workflow-run.entity.js';
import type { BegunRun } from './run-store.js';
import { WorkflowCallsRepository } from '../storage/workflow-calls.repository.js';
import {
  CallNotMadeError,
  CallOutcomeUnknownError,
  RunReplacedError,
  WorkflowFailedError,
  type WorkflowFailure,
} from '../model/workflows.errors.js';
import { workflowLimits } from '../workflow.limits.js';

const KEY_MAX_LENGTH = 191;
/** Characters of questions and answers after which a page ends. */
const PAGE_LENGTH = 1_048_576;

const AGAIN: readonly CallState[] = [CallState.Released, CallState.Failed];

/** Failures that end whatever a run does at the time. */
const DEADLINES: ReadonlySet<WorkflowFailure> = new Set(['WORKFLOW_DEADLINE', 'AGENT_DEADLINE']);

/** Proof of having begun a call; only its holder may end it. */
type CallClaim = Pick<WorkflowCallEntity, 'runId' | 'shard' | 'callKey' | 'attempt'>;

type Hold = (manager: EntityManager) => Promise<void>;

const noHold: Hold = () => Promise.resolve();

/** Keeps the calls of runs. Each change holds the run, so that one that was cancelled or begun anew calls nobody any more. */
@Injectable()
export class CallStore {
  constructor(
    private readonly repository: WorkflowCallsRepository,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** The calls of one attempt of a run. @param hold see WorkflowRunRequest.hold */
  of(run: BegunRun, hold = noHold): CallJournal {
    return { once: (call, make) => this.once(() => this.begin(run, call, hold), call, make) };
  }

  private async once(
    begin: () => Promise<CallClaim | CallResponse>,
    call: OutsideCall,
    make: () => Promise<CallResponse>,
  ): Promise<CallResponse> {
    const begun = await begin();
    // A response: the call was answered before.
    if (!('callKey' in begun)) {
      return begun;
    }
    const response = await make().catch(async (error: unknown) => {
      throw await this.failed(begun, call, error);
    });
    await this.finish(begun, response);
    return response;
  }

  /** Keeps what a later attempt may do. @returns what the run fails with */
  private async failed(claim: CallClaim, call: OutsideCall, error: unknown): Promise<unknown> {
    if (error instanceof CallNotMadeError) {
      await this.end(claim, CallState.Failed, error.outcome);
      return error.cause;
    }
    if (error instanceof CallOutcomeUnknownError) {
      await this.end(claim, CallState.Unknown, error.outcome);
      return unknownOutcome(call, error.message);
    }
    // Anything else is of the worker: the next attempt finds the call begun.
    if (!(error instanceof WorkflowFailedError)) {
      return error;
    }
    await this.end(claim, call.repeatable ? CallState.Failed : CallState.Unknown, error.code);
    // A deadline says nothing of the call, and who retries has to know of it.
    const isUnknown = !call.repeatable && DEADLINES.has(error.code);
    return isUnknown ? unknownOutcome(call, error.message) : error;
  }

  /** Begins a call, or answers what came of it before. */
  private async begin(run: BegunRun, call: OutsideCall, hold: Hold): Promise<CallClaim | CallResponse> {
    const row = this.toRow(run, call);
    const held = async <T>(work: (manager: EntityManager) => Promise<T>): Promise<T> =>
      this.database.write(async (manager) => {
        await hold(manager);
        if (!(await this.repository.holdRun(manager, run))) {
          throw new RunReplacedError();
        }
        return work(manager);
      });
    if (await held((manager) => this.repository.insert(manager, row))) {
      return row;
    }
    for (;;) {
      const found = await held((manager) => this.beginAgain(manager, row));
      if (found === 'UNKNOWN') {
        throw unknownOutcome(call, 'Its worker ended before the answer was stored.');
      }
      if (found !== 'CHANGED') {
        return found;
      }
    }
  }

  /** @throws RunReplacedError when the run was begun anew meanwhile: the result of the call is lost */
  private async finish(claim: CallClaim, { result, outcome, usage }: CallResponse): Promise<void> {
    // Not in the transaction, which holds others up.
    const response = storedBytes(JSON.stringify(result));
    const isOwn = await this.database.write((manager) =>
      this.repository.finish(manager, claim, {
        finishedAt: this.clock.now(),
        outcome,
        usage: usage ?? null,
        response,
      }),
    );
    if (!isOwn) {
      throw new RunReplacedError();
    }
  }

  /**
   * Calls of a run in their order, at most `limit`, and none more when questions and answers have come to a megabyte. Each response is
   * whole, or cut one character after the length that is shown.
   * @param after key of the last one of the page before
   */
  async page(runId: string, after: string | undefined, limit: number): Promise<Page<WorkflowCallEntity>> {
    const length = workflowLimits.recordValueBytes + 1;
    const names = await this.database.read((manager) => this.repository.names(manager, runId, after));
    const items: WorkflowCallEntity[] = [];
    let size = 0;
    for (const name of names.slice(0, limit)) {
      // One by one: all responses of a page together may be too much for the memory, and others have their turn in between.
      const row = await this.database.read((manager) => this.repository.find(manager, name));
      const response = row.response?.slice(0, length) ?? null;
      items.push({ ...row, response });
      size += row.request.length + (response?.length ?? 0);
      if (size >= PAGE_LENGTH) {
        break;
      }
    }
    return { items, next: items.length < names.length ? (items.at(-1)?.callKey ?? null) : null };
  }

  /** Without a word when the run was begun anew meanwhile. */
  private async end(claim: CallClaim, state: CallState, outcome: string): Promise<void> {
    const changes = { state, finishedAt: this.clock.now(), outcome };
    await this.database.write((manager) =>
      this.repository.change(manager, { ...claim, state: CallState.Claimed }, changes),
    );
  }

  /** @returns the claim, what came of the call, that nobody knows, or that an earlier attempt has just ended it: look again */
  private async beginAgain(
    manager: EntityManager,
    row: WorkflowCallEntity,
  ): Promise<CallClaim | CallResponse | 'UNKNOWN' | 'CHANGED'> {
    const found = await this.repository.find(manager, row);
    if (found.state === CallState.Done) {
      return responseOf(found);
    }
    if (found.state === CallState.Unknown) {
      return 'UNKNOWN';
    }
    const isAllowed =
      AGAIN.includes(found.state) || (found.state === CallState.Claimed && found.repeatable === 1);
    const changes = isAllowed ? { ...row, tries: found.tries + 1 } : { state: CallState.Unknown };
    if (!(await this.repository.change(manager, found, changes))) {
      return 'CHANGED';
    }
    return isAllowed ? row : 'UNKNOWN';
  }

  private toRow(run: BegunRun, { key, kind, request, repeatable }: OutsideCall): WorkflowCallEntity {
    if (key.length > KEY_MAX_LENGTH) {
      throw new WorkflowFailedError('WORKFLOW_INVALID', 'The id of a node is too long for one that calls.');
    }
    const text = JSON.stringify(request);
    return {
      runId: run.id,
      shard: run.shard,
      callKey: key,
      kind,
      state: CallState.Claimed,
      attempt: run.attempt,
      tries: 1,
      repeatable: repeatable ? 1 : 0,
      startedAt: this.clock.now(),
      finishedAt: null,
      outcome: null,
      usage: null,
      request: beginningOf(text, workflowLimits.recordValueBytes),
      requestBytes: Buffer.byteLength(text),
      response: null,
    };
  }
}

/** The failure of a run that must not go on by itself. */
function unknownOutcome({ kind, key }: OutsideCall, why: string): WorkflowFailedError {
  const message = `Nobody knows whether this call of kind ${kind} had an effect. ${why} A retry makes it once more.`;
  return new WorkflowFailedError('CALL_OUTCOME_UNKNOWN', message, { details: key });
}

/** At most so many characters, without half of a surrogate pair at the end, which json columns of MySQL refuse. */
function beginningOf(text: string, length: number): string {
  return text.slice(0, length).replace(/[\uD800-\uDBFF]$/u, '');
}

function responseOf({ response, outcome, usage }: WorkflowCallEntity): CallResponse {
  return {
    result: JSON.parse(response ?? 'null') as JsonValue,
    outcome: outcome ?? '',
    ...(usage === null ? {} : { usage }),
  };
}
