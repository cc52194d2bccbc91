import { hash, randomUUID } from 'node:crypto';
import { callerFingerprint, type Principal } from '../../platform/user/principal.js';
import { canonicalJson } from '../../platform/json/canonical-json.js';
import { requireMatch, matches, type IfMatch } from '../../platform/http/conditional-requests.js';
import { LruCache } from '../../platform/lru-cache.js';
import type { JsonObject } from '#engine/json';
import type { RepeatKey } from '../../idempotency/idempotency-key.dto.js';
import {
  type ExecutedCall,
  type StepResult,
  type TokenState,
  type UiActionPlace,
  effectOf,
} from '#engine/tokens';
import { ProcessStateError } from '../model/process-runtime.errors.js';
import { databaseTimeOf, withExecution } from '../steps/instance-status.js';
import type { UiActionParams } from './ui-action.dto.js';
import type { LoadedInstance } from '../steps/step.types.js';
import type { LockTime } from '../storage/instances.repository.js';
import { processLimits } from '../process.limits.js';

export interface TimedCall {
  principal: Principal;
  key: UiActionParams;
  body: JsonObject;
  /** Undefined without an Idempotency-Key. */
  repeat: RepeatKey | undefined;
  /** Visits of the token that the caller accepts. */
  ifMatch: IfMatch | undefined;
  /** Whether the caller requests to go back and nothing else. */
  goesBack: boolean;
  /** On the monotonic clock of this process; undefined outside of requests. */
  receivedAt: number | undefined;
  /** Transaction of this call. */
  commit: Commit;
}

/** A transaction that executes an action. */
export interface Commit {
  /** Stored with the execution, so only committed ones are found. */
  id: string;
  /** When it was committed, on the clock of `receivedAt`; `Infinity` before. */
  at: number;
  /** Revision of the instance after the step; undefined before. */
  rev?: number;
}

/** Number of commits that this process remembers. For older ones it uses times of the database. */
const COMMITS = 10_000;
const HASH_LENGTH = 32;
const REPEAT_MESSAGES: Readonly<Record<'EXECUTE' | 'BACK', string>> = {
  EXECUTE: 'The UI action has just been executed. To execute it once more, read the instance first.',
  BACK: 'The UI action has just been executed. To go back, read the instance and execute it again.',
};

/** Returns the transaction of a call before it begins. */
export function newCommit(): Commit {
  return { id: randomUUID(), at: Infinity };
}

/**
 * Distinguishes a repeated call from another execution (docs/contract.md, section 4.2). This process knows exactly when its own transactions
 * were committed. For steps of other replicas it compares times of the database, see `LockTime`, and the revision of the instance before the
 * call waited for the lock.
 */
export class UiActionRepeats {
  private readonly windowMs = processLimits.repeatWindowMs;
  /** Includes executions in progress or rolled back, which no stored row refers to. */
  private readonly commits = new LruCache<string, Commit>({ entries: COMMITS });

  /**
   * Finds the execution that a call repeats.
   * @param tokenId token of the call, which may have ended
   * @returns undefined when the call is not a repeat
   * @throws ProcessStateError for a repeat that must not get the first answer
   */
  repeated(
    loaded: LoadedInstance,
    tokenId: number,
    place: UiActionPlace,
    call: TimedCall,
  ): ExecutedCall | undefined {
    const found = compare(loaded, tokenId, place, call);
    if (found === undefined || requestsNewExecution(found, place, call)) {
      return undefined;
    }
    if (!this.wasEarly(found, loaded.locked, mayBeLate(found, call) ? this.windowMs : 0)) {
      return undefined;
    }
    const { executed, token, effect, isSame } = found;
    if (isSame && isOfSameCaller(executed, call)) {
      return executed;
    }
    if (token === undefined || effect === null) {
      return undefined;
    }
    requireMatch(call.ifMatch, visitTag(token));
    throw new ProcessStateError('UI_ACTION_REPEATED', REPEAT_MESSAGES[effect]);
  }

  /** Adds the call to the result of the step that executed it. */
  withExecutedCall(
    result: StepResult,
    { locked, row }: LoadedInstance,
    token: TokenState,
    place: UiActionPlace,
    call: TimedCall,
  ): StepResult {
    const { action, instance, changedTokens } = result;
    if (action === null || call.receivedAt === undefined) {
      return result;
    }
    const made = changedTokens.find(({ id }) => id === action.tokenId);
    const executed: ExecutedCall = {
      id: call.commit.id,
      actionSvcUuid: place.action.svcUuid,
      tokenId: token.id,
      visit: token.visit,
      caller: callerFingerprint(call.principal),
      body: bodyHash(call, place),
      at: databaseTimeOf(locked),
      rev: row.rev + 1,
      node: action.node,
      ...(call.repeat === undefined ? {} : { hasKey: true }),
      ...(action.back && made !== undefined ? { backTo: made.uuid } : {}),
    };
    call.commit.rev = executed.rev;
    this.commits.set(executed.id, call.commit);
    return {
      ...result,
      instance: { ...instance, executions: withExecution(instance, executed, this.windowMs) },
    };
  }

  committed({ commit }: TimedCall): void {
    commit.at = performance.now();
  }

  /** Forgets a call whose transaction was rolled back. */
  rolledBack({ commit }: TimedCall): void {
    this.commits.delete(commit.id);
  }

  /** Whether a call was received before the execution was committed, or within a window after it. */
  private wasEarly({ executed, receivedAt }: Compared, locked: LockTime, windowMs: number): boolean {
    const commit = this.commits.get(executed.id);
    // Times of the database are inexact by the time that statements wait to be sent, which is long on a busy machine.
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

/** A call compared with the last execution of its action on its token. */
interface Compared {
  executed: ExecutedCall;
  receivedAt: number;
  /** Undefined when the token has ended. */
  token: TokenState | undefined;
  effect: ReturnType<typeof effectOf>;
  isEqual: boolean;
  /** Whether the call is equal and has no other key. */
  isSame: boolean;
}

function compare(
  { definition: { runtime: definition }, state: instance }: LoadedInstance,
  tokenId: number,
  place: UiActionPlace,
  call: TimedCall,
): Compared | undefined {
  const executed = instance.executions.findLast(
    (other) => other.tokenId === tokenId && other.actionSvcUuid === place.action.svcUuid,
  );
  if (executed === undefined || call.receivedAt === undefined) {
    return undefined;
  }
  const token = instance.tokens.get(tokenId);
  const isEqual = executed.body === bodyHash(call, place);
  return {
    executed,
    receivedAt: call.receivedAt,
    token,
    effect: token === undefined ? null : effectOf({ definition, instance }, token, place),
    isEqual,
    isSame: isEqual && (executed.hasKey !== true || call.repeat === undefined),
  };
}

/** Returns the entity tag of a visit, for `If-Match`. */
export function visitTag({ visit }: { visit: number }): string {
  return `"${visit}"`;
}

/** Whether a call names a later visit, or requests another execution of a repeatable action on the same visit. */
function requestsNewExecution(
  { executed, token, isSame }: Compared,
  { node, action }: UiActionPlace,
  { ifMatch }: TimedCall,
): boolean {
  if (token === undefined) {
    return false;
  }
  return token.visit === executed.visit
    ? !isSame && action.repeatable && token.node === node.index
    : hasTags(ifMatch) && matches(ifMatch, visitTag(token));
}

function isOfSameCaller({ caller, visit }: ExecutedCall, { principal, ifMatch = '*' }: TimedCall): boolean {
  return caller === callerFingerprint(principal) && matches(ifMatch, visitTag({ visit }));
}

/** Whether a call with the same body would go back without requesting it explicitly. */
function mayBeLate({ effect, isEqual }: Compared, { repeat, ifMatch, goesBack }: TimedCall): boolean {
  return effect === 'BACK' && isEqual && repeat === undefined && !hasTags(ifMatch) && !goesBack;
}

function hasTags(ifMatch: IfMatch | undefined): ifMatch is readonly string[] {
  return ifMatch !== undefined && ifMatch !== '*';
}

/** Includes the UI action: two UI actions of one action have different bodies of their author. */
function bodyHash({ body, goesBack }: TimedCall, { uiAction }: UiActionPlace): string {
  const parts = goesBack ? [uiAction.svcUuid, body, 'back'] : [uiAction.svcUuid, body];
  return hash('sha256', canonicalJson(parts)).slice(0, HASH_LENGTH);
}
