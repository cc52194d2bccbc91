import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { callerFingerprint, type Principal } from '../../common/auth/principal.js';
import { canonicalJson } from '../../common/canonical-json.js';
import { RecentlyUsed } from '../../common/recently-used.js';
import type { JsonObject } from '../../common/data-paths.js';
import { Env } from '../../config/env.js';
import type { ExecutedCall, StepResult, TokenState } from './engine/engine.types.js';
import type { UiActionPlace } from './engine/runtime-definition.js';
import { wayBackOf } from './engine/ui-actions.js';
import { ProcessStateError } from './process-runtime.errors.js';
import type { LoadedInstance } from './step/step.types.js';

/** Who called with what, and when. */
export interface TimedCall {
  principal: Principal;
  body: JsonObject;
  /** On the monotonic clock of this process; undefined for what is no request of anybody, which nobody can click twice. */
  receivedAt: number | undefined;
  /** Its own transaction. */
  commit: Commit;
}

/** A transaction that executes an action. */
export interface Commit {
  /** When it had ended, on the same clock; `Infinity` before. */
  at: number;
  /** What it executes; null as long as it has executed nothing that can be gone back to. */
  key: string | null;
}

/** How many commits of this process are remembered; of older ones the database tells. */
const COMMITS = 10_000;
/** A wait for a lock that is more than the time that the statement itself takes. */
const WAITED_MS = 2;
const HASH_LENGTH = 32;

/**
 * Tells a double click from a step back: the same UI action again that was received before its execution was committed, or with the same body
 * within `PROCESS_REPEAT_WINDOW_MS` of it. What this process has committed it knows exactly; of other replicas it knows the times of the database, see
 * `LockTime`, and whether it had to wait for the lock and then found the instance just as the execution had left it.
 */
@Injectable()
export class UiActionRepeats {
  private readonly windowMs: number;
  /** Executions of this process that may have been committed, or not; apart, since they may still be rolled back. */
  private readonly pending = new Map<string, Commit>();
  private readonly commits = new RecentlyUsed<string, Commit>({ entries: COMMITS, bytes: Infinity });

  constructor(env: Env) {
    this.windowMs = env.get('PROCESS_REPEAT_WINDOW_MS');
  }

  /**
   * What a call repeats that would otherwise lead the token back.
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
    const executed = wayBackOf(view, token, place)?.executed;
    if (executed?.tokenId !== token.id || call.receivedAt === undefined) {
      return undefined;
    }
    const isSame = executed.body === bodyHash(call);
    const windowMs = isSame ? this.windowMs : 0;
    if (
      !wasEarly(executed, call.receivedAt, windowMs, loaded) &&
      !this.wasEarlyHere(call.receivedAt, token, place)
    ) {
      return undefined;
    }
    if (isSame && executed.caller === callerFingerprint(call.principal)) {
      return executed;
    }
    throw new ProcessStateError(
      'UI_ACTION_REPEATED',
      'The UI action has just been executed. To go back, read the instance and execute it again.',
    );
  }

  /** Notes the call that has executed an action, where that can be gone back to. */
  noted(
    result: StepResult,
    { row, locked }: LoadedInstance,
    place: UiActionPlace,
    call: TimedCall,
  ): StepResult {
    const { action, instance } = result;
    if (action === null || action.back || call.receivedAt === undefined) {
      return result;
    }
    const { tokenId, node } = action;
    const index = instance.returnPoints.findLastIndex(
      (point) => point.actionSvcUuid === place.action.svcUuid && point.tokenId === tokenId,
    );
    const point = instance.returnPoints[index];
    if (point === undefined) {
      return result;
    }
    const executed: ExecutedCall = {
      tokenId,
      caller: callerFingerprint(call.principal),
      body: bodyHash(call),
      at: locked.at + performance.now() - locked.sentAt,
      rev: row.rev + 1,
      node,
    };
    call.commit.key = keyOf(tokenId, place);
    this.pending.set(call.commit.key, call.commit);
    const returnPoints = instance.returnPoints.with(index, { ...point, executed });
    return { ...result, instance: { ...instance, returnPoints } };
  }

  /** Tells that the transaction of a call was committed. */
  committed({ commit }: TimedCall): void {
    commit.at = performance.now();
    if (commit.key !== null) {
      this.settle(commit, commit.key);
      this.commits.delete(commit.key);
      this.commits.add(commit.key, commit, 0);
    }
  }

  /** Tells that the transaction of a call was rolled back, so that it has executed nothing. */
  rolledBack({ commit }: TimedCall): void {
    if (commit.key !== null) {
      this.settle(commit, commit.key);
    }
  }

  private settle(commit: Commit, key: string): void {
    if (this.pending.get(key) === commit) {
      this.pending.delete(key);
    }
  }

  /** Whether it was received before the last execution that this process has committed, or is at. */
  private wasEarlyHere(receivedAt: number, token: TokenState, place: UiActionPlace): boolean {
    const key = keyOf(token.id, place);
    const commit = this.pending.get(key) ?? this.commits.get(key);
    return commit !== undefined && receivedAt <= commit.at;
  }
}

/**
 * Whether a call was received before the execution was committed, as far as the database can tell, or within a window after it. Who had to
 * wait for the lock, and finds that no other step came between, has waited for that execution.
 */
function wasEarly(
  executed: ExecutedCall,
  receivedAt: number,
  windowMs: number,
  { row, locked }: LoadedInstance,
): boolean {
  const laterMs = locked.at - (locked.sentAt - receivedAt) - executed.at;
  const hasWaited = locked.waitedMs >= WAITED_MS && row.rev === executed.rev;
  return laterMs <= 0 || laterMs < windowMs || hasWaited;
}

function keyOf(tokenId: number, { action }: UiActionPlace): string {
  return `${tokenId} ${action.svcUuid}`;
}

function bodyHash({ body }: TimedCall): string {
  return hash('sha256', canonicalJson(body)).slice(0, HASH_LENGTH);
}
