import { hash, randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { callerFingerprint, type Principal } from '../../../common/user/principal.js';
import { canonicalJson } from '../../../common/canonical-json.js';
import { RecentlyUsed } from '../../../common/recently-used.js';
import type { JsonObject } from '../../../common/json.js';
import { Env } from '../../../config/env.js';
import type { ExecutedCall, StepResult, TokenState } from '../engine/state/engine.types.js';
import type { UiActionPlace } from '../engine/state/runtime-definition.js';
import { effectOf } from '../engine/ui-actions/ui-actions.js';
import { ProcessStateError } from '../model/process-runtime.errors.js';
import { databaseTimeOf, remembered } from '../steps/executed-calls.js';
import type { LoadedInstance } from '../steps/step.types.js';

/** Who called with what, and when. */
export interface TimedCall {
  principal: Principal;
  body: JsonObject;
  /** On the monotonic clock of this process; undefined for what is no request of anybody, which nobody can click twice. */
  receivedAt: number | undefined;
  /** Its own transaction, if it comes to one. */
  commit: Commit;
}

/** A transaction that executes an action. */
export interface Commit {
  /** Stored with the execution: only one that is committed is ever found. */
  id: string;
  /** When it had ended, on the clock of `receivedAt`; `Infinity` before. */
  at: number;
  /** Revision of the instance that it has made; undefined before. */
  rev?: number;
}

/** How many commits of this process are remembered; of older ones the database tells. */
const COMMITS = 10_000;
const HASH_LENGTH = 32;
const SAID_OF: Readonly<Record<'EXECUTE' | 'BACK', string>> = {
  EXECUTE: 'The UI action has just been executed. To execute it once more, read the instance first.',
  BACK: 'The UI action has just been executed. To go back, read the instance and execute it again.',
};

/** The transaction of a call that has not begun. */
export function newCommit(): Commit {
  return { id: randomUUID(), at: Infinity };
}

/**
 * Tells a double click from another execution: the same UI action again on the same token that was received before the last step of its
 * execution was committed, or with the same body within `PROCESS_REPEAT_WINDOW_MS` of it. What this process has committed it knows exactly; of
 * other replicas it knows the times of the database, see `LockTime`, and the revision that was there before it waited for anybody.
 */
@Injectable()
export class UiActionRepeats {
  private readonly windowMs: number;
  /** Also of executions that are under way, or were rolled back; nothing stored names these. */
  private readonly commits = new RecentlyUsed<string, Commit>({ entries: COMMITS });

  constructor(env: Env) {
    this.windowMs = env.get('PROCESS_REPEAT_WINDOW_MS');
  }

  /**
   * What a call repeats that would otherwise execute the action once more, or lead the token back.
   * @returns the call that executed the action, when it is the same call of the same caller: to be answered as that one; undefined when
   * the call is none again
   * @throws ProcessStateError when it is one again, but not the same
   */
  repeated(
    loaded: LoadedInstance,
    token: TokenState,
    place: UiActionPlace,
    call: TimedCall,
  ): ExecutedCall | undefined {
    const view = { definition: loaded.definition.runtime, instance: loaded.state };
    const effect = effectOf(view, token, place);
    const executed = loaded.state.executions.findLast(
      ({ tokenId, actionSvcUuid }) => tokenId === token.id && actionSvcUuid === place.action.svcUuid,
    );
    if (effect === null || executed === undefined || call.receivedAt === undefined) {
      return undefined;
    }
    const isSame = executed.body === bodyHash(call, place);
    if (!isSame && isMeantAnew(executed, token, place)) {
      return undefined;
    }
    if (!this.wasEarly(executed, call.receivedAt, isSame ? this.windowMs : 0, loaded)) {
      return undefined;
    }
    if (isSame && executed.caller === callerFingerprint(call.principal)) {
      return executed;
    }
    throw new ProcessStateError('UI_ACTION_REPEATED', SAID_OF[effect]);
  }

  /** Notes the call that has executed an action. */
  noted(result: StepResult, loaded: LoadedInstance, place: UiActionPlace, call: TimedCall): StepResult {
    const { action, instance } = result;
    const token = action === null ? undefined : loaded.state.tokens.get(action.tokenId);
    if (action === null || token === undefined || action.back || call.receivedAt === undefined) {
      return result;
    }
    const executed: ExecutedCall = {
      id: call.commit.id,
      actionSvcUuid: place.action.svcUuid,
      tokenId: token.id,
      visit: token.visit,
      caller: callerFingerprint(call.principal),
      body: bodyHash(call, place),
      at: databaseTimeOf(loaded.locked),
      rev: loaded.row.rev + 1,
      node: action.node,
    };
    call.commit.rev = executed.rev;
    this.commits.set(executed.id, call.commit);
    return {
      ...result,
      instance: { ...instance, executions: remembered(instance, executed, this.windowMs) },
    };
  }

  /** Tells that the transaction of a call was committed. */
  committed({ commit }: TimedCall): void {
    commit.at = performance.now();
  }

  /** Tells that the transaction of a call was rolled back, so that it has executed nothing. */
  rolledBack({ commit }: TimedCall): void {
    this.commits.delete(commit.id);
  }

  /** Whether a call was received before the execution was committed, or within a window after it. */
  private wasEarly(
    executed: ExecutedCall,
    receivedAt: number,
    windowMs: number,
    { locked }: LoadedInstance,
  ): boolean {
    const commit = this.commits.get(executed.id);
    // Times of the database are off by what statements wait for on their way, which is much on a busy machine.
    const laterMs =
      commit?.rev === executed.rev
        ? receivedAt - commit.at
        : locked.at - (locked.sentAt - receivedAt) - executed.at;
    return (
      laterMs <= 0 ||
      laterMs < windowMs ||
      locked.revBefore < executed.rev ||
      (commit !== undefined && receivedAt <= commit.at)
    );
  }
}

/** A repeatable action on the same visit is there to be executed with one body after the other, also at the same time. */
function isMeantAnew(executed: ExecutedCall, token: TokenState, { node, action }: UiActionPlace): boolean {
  return action.repeatable && token.node === node.index && token.visit === executed.visit;
}

/** Two UI actions of one action are not the same: each has a body of its own author. */
function bodyHash({ body }: TimedCall, { uiAction }: UiActionPlace): string {
  return hash('sha256', canonicalJson([uiAction.svcUuid, body])).slice(0, HASH_LENGTH);
}
