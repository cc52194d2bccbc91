import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { JsonValue } from '../../../common/json.js';
import type { Page } from '../../../common/page.js';
import { Clock } from '../../../common/clock.js';
import { Database } from '../../../database/database.js';
import { storedBytes } from '../../../database/column-values.js';
import { CallState, type CallResponse, type OutsideCall } from '../model/call-journal.types.js';
import type { WorkflowCallEntity } from '../storage/workflow-run.entity.js';
import type { BegunRun } from './run-store.js';
import { WorkflowCallsRepository } from '../storage/workflow-calls.repository.js';
import { RunReplacedError, WorkflowFailedError } from '../model/workflows.errors.js';
import { workflowLimits } from '../workflow.limits.js';

const KEY_MAX_LENGTH = 191;
/** Characters of questions and answers after which a page ends. */
const PAGE_LENGTH = 1_048_576;

const AGAIN: readonly CallState[] = [CallState.Released, CallState.Failed];

/** Proof of having begun a call; only its holder may end it. */
export type CallClaim = Pick<WorkflowCallEntity, 'runId' | 'shard' | 'callKey' | 'attempt'>;

type Hold = (manager: EntityManager) => Promise<void>;

/** Keeps the calls of runs. Each change holds the run, so that one that was cancelled or begun anew calls nobody any more. */
@Injectable()
export class CallStore {
  constructor(
    private readonly repository: WorkflowCallsRepository,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Begins a call, or answers what came of it before. @throws as CallJournal.once */
  async begin(run: BegunRun, call: OutsideCall, hold: Hold): Promise<CallClaim | CallResponse> {
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
  async finish(claim: CallClaim, { result, outcome, usage }: CallResponse): Promise<void> {
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

  /** Says that a call had no effect, so that it may be made again; without a word when the run was begun anew meanwhile. */
  async fail(claim: CallClaim, outcome: string): Promise<void> {
    await this.end(claim, CallState.Failed, outcome);
  }

  /** Says that nobody knows whether a call had an effect; without a word when the run was begun anew meanwhile. */
  async doubt(claim: CallClaim, outcome: string): Promise<void> {
    await this.end(claim, CallState.Unknown, outcome);
  }

  /** Lets calls of unknown outcome of a run and its subworkflows be made once more, in the caller's transaction. */
  async release(manager: EntityManager, runKey: string, shard: number): Promise<void> {
    await this.repository.release(manager, runKey, shard);
  }

  /** Whether a call that must not be made twice had an effect, or may have had one: of the run or of its subworkflows. */
  async hasLasting(manager: EntityManager, runKey: string, shard: number): Promise<boolean> {
    return this.repository.hasLasting(manager, runKey, shard);
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
export function unknownOutcome({ kind, key }: OutsideCall, why: string): WorkflowFailedError {
  const message = `Nobody knows whether this call of kind ${kind} had an effect. ${why} A retry makes it once more.`;
  return new WorkflowFailedError('CALL_OUTCOME_UNKNOWN', message, { details: key });
}

/** Whether a call is to be made, and was not answered before. */
export function isClaim(begun: CallClaim | CallResponse): begun is CallClaim {
  return 'callKey' in begun;
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
