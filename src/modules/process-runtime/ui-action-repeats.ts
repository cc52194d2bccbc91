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
import type { LockTime } from './storage/instances.repository.js';

/** Who called with what, and when. */
export interface TimedCall {
  principal: Principal;
  body: JsonObject;
  /** On the monotonic clock of this process; undefined for what is no request of anybody, which nobody can click twice. */
  receivedAt: number | undefined;
  /** Its own transaction. */
  commit: Commit;
}

/** The end of a transaction, on the same clock; `Infinity` before it. */
interface Commit {
  at: number;
}

/** How many commits of this process are remembered; of older ones the database tells. */
const COMMITS = 10_000;
/** A transaction of another replica that was waited for has noted its time at most so long before its commit. */
const COMMIT_MS = 50;
/** A wait for a lock that is more than the time that the statement itself takes. */
const WAITED_MS = 2;
const HASH_LENGTH = 32;

/**
 * Tells a double click from a step back: the same UI action again that was received before its execution was committed, or with the same body
 * within `PROCESS_REPEAT_WINDOW_MS` of it. What this process has committed it knows exactly; of other replicas it knows the times of the database, see
 * `LockTime`, and whether it had to wait for them.
 */
@Injectable()
export class UiActionRepeats {
  private readonly windowMs: number;
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
    { state, definition, locked }: LoadedInstance,
    token: TokenState,
    place: UiActionPlace,
    call: TimedCall,
  ): ExecutedCall | undefined {
    const view = { definition: definition.runtime, instance: state };
    const executed = wayBackOf(view, token, place)?.executed;
    if (executed?.tokenId !== token.id || call.receivedAt === undefined) {
      return undefined;
    }
    const isSame = executed.body === bodyHash(call);
    const later = locked.at - (locked.sentAt - call.receivedAt) - executed.at;
    if (
      !this.wasEarly(call.receivedAt, token, place) &&
      !wasEarly(later, locked, isSame ? this.windowMs : 0)
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
  noted(result: StepResult, { locked }: LoadedInstance, place: UiActionPlace, call: TimedCall): StepResult {
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
      node,
    };
    this.commits.add(keyOf(tokenId, place), call.commit, 0);
    const returnPoints = instance.returnPoints.with(index, { ...point, executed });
    return { ...result, instance: { ...instance, returnPoints } };
  }

  /** Whether it was received before the last execution that this process has committed, or is at. */
  private wasEarly(receivedAt: number, token: TokenState, place: UiActionPlace): boolean {
    const commit = this.commits.get(keyOf(token.id, place));
    return commit !== undefined && receivedAt <= commit.at;
  }
}

/**
 * Whether it was received before the commit, as far as the database can tell, or within a window after it; who had to wait for a step that
 * was just being committed, was.
 */
function wasEarly(laterMs: number, { waitedMs }: LockTime, windowMs: number): boolean {
  return laterMs <= 0 || laterMs < (waitedMs >= WAITED_MS ? Math.max(windowMs, COMMIT_MS) : windowMs);
}

function keyOf(tokenId: number, { action }: UiActionPlace): string {
  return `${tokenId} ${action.svcUuid}`;
}

function bodyHash({ body }: TimedCall): string {
  return hash('sha256', canonicalJson(body)).slice(0, HASH_LENGTH);
}
