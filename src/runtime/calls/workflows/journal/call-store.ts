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
/** Characters of requests and responses after which a page ends. */
const PAGE_LENGTH = 1_048_576;

const REPEATABLE_STATES: readonly CallState[] = [CallState.Released, CallState.Failed];

/** Failures that can interrupt any call. */
const DEADLINES: ReadonlySet<WorkflowFailure> = new Set(['WORKFLOW_DEADLINE', 'AGENT_DEADLINE']);

/** Proof that this attempt started a call; only its holder may end it. */
type CallClaim = Pick<WorkflowCallEntity, 'runId' | 'shard' | 'callKey' | 'attempt'>;

type Hold = (manager: EntityManager) => Promise<void>;

const noHold: Hold = () => Promise.resolve();

/** Stores the outside calls of runs. Each change locks the run, so that a cancelled or replaced attempt makes no more calls. */
@Injectable()
export class CallStore {
  constructor(
    private readonly repository: WorkflowCallsRepository,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Returns the journal of one attempt of a run. @param hold see WorkflowRunRequest.hold */
  of(run: BegunRun, hold = noHold): CallJournal {
    return { once: (call, make) => this.once(() => this.begin(run, call, hold), call, make) };
  }

  private async once(
    begin: () => Promise<CallClaim | CallResponse>,
    call: OutsideCall,
    make: () => Promise<CallResponse>,
  ): Promise<CallResponse> {
    const begun = await begin();
    // An earlier attempt has finished the call.
    if (!('callKey' in begun)) {
      return begun;
    }
    const response = await make().catch(async (error: unknown) => {
      throw await this.storeFailure(begun, call, error);
    });
    await this.finish(begun, response);
    return response;
  }

  /** Stores whether a later attempt may repeat the call. @returns error to throw */
  private async storeFailure(claim: CallClaim, call: OutsideCall, error: unknown): Promise<unknown> {
    if (error instanceof CallNotMadeError) {
      await this.end(claim, CallState.Failed, error.outcome);
      return error.cause;
    }
    if (error instanceof CallOutcomeUnknownError) {
      await this.end(claim, CallState.Unknown, error.outcome);
      return unknownOutcome(call, error.message);
    }
    // The worker failed: the next attempt finds the call started.
    if (!(error instanceof WorkflowFailedError)) {
      return error;
    }
    await this.end(claim, call.repeatable ? CallState.Failed : CallState.Unknown, error.code);
    // A deadline does not reveal the outcome of the call, which matters for a retry.
    const isUnknown = !call.repeatable && DEADLINES.has(error.code);
    return isUnknown ? unknownOutcome(call, error.message) : error;
  }

  /** Starts a call, or returns the response of an earlier attempt. */
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
      const found = await held((manager) => this.resume(manager, row));
      if (found === 'UNKNOWN') {
        throw unknownOutcome(call, 'Its worker ended before the answer was stored.');
      }
      if (found !== 'CHANGED') {
        return found;
      }
    }
  }

  /** Stores a response. @throws RunReplacedError when a later attempt of the run has started; the response is lost */
  private async finish(claim: CallClaim, { result, outcome, usage }: CallResponse): Promise<void> {
    // Outside the transaction, which blocks others.
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
   * Returns a page of calls of a run in start order, which ends early when requests and responses reach a megabyte. Responses are
   * truncated one character beyond the displayed length, to show that they are longer.
   * @param after key of the last call of the previous page
   */
  async page(runId: string, after: string | undefined, limit: number): Promise<Page<WorkflowCallEntity>> {
    const length = workflowLimits.recordValueBytes + 1;
    const names = await this.database.read((manager) => this.repository.names(manager, runId, after));
    const items: WorkflowCallEntity[] = [];
    let size = 0;
    for (const name of names.slice(0, limit)) {
      // Reads one by one, since all responses of a page may not fit into memory, and serves other requests in between.
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

  /** Ends a call; does nothing if a later attempt of the run has started. */
  private async end(claim: CallClaim, state: CallState, outcome: string): Promise<void> {
    const changes = { state, finishedAt: this.clock.now(), outcome };
    await this.database.write((manager) =>
      this.repository.change(manager, { ...claim, state: CallState.Claimed }, changes),
    );
  }

  /** @returns a new claim, the stored response, UNKNOWN, or CHANGED if an earlier attempt has just ended the call and it must be read again */
  private async resume(
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
      REPEATABLE_STATES.includes(found.state) ||
      (found.state === CallState.Claimed && found.repeatable === 1);
    const changes = isAllowed ? { ...row, tries: found.tries + 1 } : { state: CallState.Unknown };
    if (!(await this.repository.change(manager, found, changes))) {
      return 'CHANGED';
    }
    return isAllowed ? row : 'UNKNOWN';
  }

  private toRow(run: BegunRun, { key, kind, request, repeatable }: OutsideCall): WorkflowCallEntity {
    if (key.length > KEY_MAX_LENGTH) {
      throw new WorkflowFailedError('WORKFLOW_INVALID', 'The id of a node with outside calls is too long.');
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

/** Returns the failure of a run that a person has to retry. */
function unknownOutcome({ kind, key }: OutsideCall, why: string): WorkflowFailedError {
  const message = `It is unknown whether this call of kind ${kind} had an effect. ${why} A retry makes it once more.`;
  return new WorkflowFailedError('CALL_OUTCOME_UNKNOWN', message, { details: key });
}

/** Truncates a text without splitting a surrogate pair, which MySQL rejects in JSON columns. */
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
