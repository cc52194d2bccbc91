import type {
  EngineJob,
  InstanceStatus,
  ThrownError,
  TokenState,
  TokenStatus,
} from '../state/engine.types.js';
import type { RuntimeNode } from '../state/runtime-definition.js';
import type { StepRun } from '../state/step-run.js';
import { depart, endToken, enter, isTrue, leave } from './token-flow.js';
import { createToken, descendantsOf, removeToken, splitParentOf } from '../state/tokens.js';
import { arm, armNode } from './waits.js';

type EndOfChildren = Extract<EngineJob, { kind: 'END_CHILDREN' }>['state'];

/** Handles the arrival at an embedded subprocess: the token is held while new ones run inside, one per start event. */
export function enterSubProcess(run: StepRun, id: number): void {
  const node = run.nodeOf(run.edit(id));
  run.edit(id).status = 'EXECUTING';
  if (node.starts.length === 0) {
    leave(run, id);
    return;
  }
  run.setTokenState(id, 'ON_HOLD');
  for (const start of node.starts) {
    const token = createToken(run, { node: start, parentId: id, scopeTokenId: id });
    run.queue.push({ tokenId: token.id, node: start });
  }
  arm(run, id);
}

/** Executes a terminate end event: ends all tokens of its process or embedded subprocess, which is then complete (13.4.6). */
export function terminateScope(run: StepRun, id: number): void {
  const token = run.edit(id);
  const scope = token.scopeTokenId;
  const others = scope === null ? [...run.instance.tokens.values()] : descendantsOf(run, scope);
  others
    .filter((other) => other.id !== id)
    .forEach((other) => discard(run, other, 'TERMINATED', 'TERMINATED'));
  if (scope === null) {
    endToken(run, id);
    return;
  }
  token.status = 'EXECUTED_COMPLETE';
  removeToken(run, id, 'INACTIVE');
  run.setTokenState(scope, 'ACTIVE');
  leave(run, scope);
}

/** Ends a token from outside, with the called processes that it waits for. Leaves its parent as it is. */
export function discard(run: StepRun, token: TokenState, state: TokenStatus, children: EndOfChildren): void {
  endCalls(run, token, children);
  removeToken(run, token.id, state);
}

function endCalls(run: StepRun, token: TokenState, state: EndOfChildren): void {
  if (token.call !== null) {
    endChildren(run, state, { tokenId: token.id, visit: token.visit });
  }
}

/** Ends running called processes: all of the instance, unless `which` selects some (see `EngineJob`). */
export function endChildren(
  run: StepRun,
  state: EndOfChildren,
  which: Partial<Record<'tokenId' | 'visit' | 'sinceSeq', number>> = {},
): void {
  run.jobs.push({ kind: 'END_CHILDREN', tokenId: null, visit: null, sinceSeq: 0, state, ...which });
}

/**
 * Fires a boundary event. An interrupting one takes the token away from its activity. A non-interrupting one starts another token
 * (BPMN 2.0.2, 13.5.3) and waits for its message again.
 */
export function fireBoundary(run: StepRun, host: TokenState, boundary: RuntimeNode): void {
  if (boundary.interrupting) {
    interrupt(run, host, boundary);
    return;
  }
  const parent = splitParentOf(run, host);
  if (parent !== undefined) {
    run.edit(parent.id).syncCount += 1;
  }
  const { parentId, scopeTokenId } = host;
  const token = createToken(run, { node: boundary.index, parentId, scopeTokenId });
  enter(run, token.id, boundary.index);
  leave(run, token.id);
  if (boundary.event?.type === 'MESSAGE') {
    armNode(run, run.edit(host.id), boundary);
  }
}

function interrupt(run: StepRun, host: TokenState, boundary: RuntimeNode): void {
  descendantsOf(run, host.id).forEach((token) => discard(run, token, 'DISMISSED', 'DISMISSED'));
  endCalls(run, host, 'DISMISSED');
  depart(run, run.edit(host.id), { interruptedBy: boundary.key });
  run.setTokenState(host.id, 'ACTIVE');
  enter(run, host.id, boundary.index);
  leave(run, host.id);
}

/**
 * Throws an error at a token. The error boundary events of its activity are tried first, then those of each enclosing embedded
 * subprocess (BPMN 2.0.2, 10.5.6).
 * @returns whether an event caught it
 */
export function throwError(run: StepRun, thrower: TokenState, error: ThrownError): boolean {
  const { code, kind } = error;
  run.event('ERROR_THROWN', thrower, kind === 'BPMN' ? { code } : { code, technical: true });
  for (let host: TokenState | undefined = thrower; host !== undefined;) {
    const boundary = handlerOf(run, host, error);
    if (boundary !== undefined) {
      interrupt(run, host, boundary);
      return true;
    }
    host = host.scopeTokenId === null ? undefined : run.token(host.scopeTokenId);
  }
  return false;
}

/**
 * Finds the boundary event that catches an error. Events that name the error code take precedence over events that catch every BPMN
 * error (BPMN 2.0.2, 10.5.6). A technical failure is caught only by an event with its code.
 */
function handlerOf(run: StepRun, host: TokenState, { kind, code }: ThrownError): RuntimeNode | undefined {
  const boundaries = run.nodeOf(host).boundaries.map((index) => run.definition.node(index));
  const catching = (named: boolean) =>
    boundaries.find((boundary) => namesError(boundary) === named && catches(run, host, boundary, code));
  return catching(true) ?? (kind === 'BPMN' ? catching(false) : undefined);
}

function namesError({ event }: RuntimeNode): boolean {
  return event?.type === 'ERROR' && event.code !== null;
}

function catches(run: StepRun, host: TokenState, boundary: RuntimeNode, code: string | null): boolean {
  const { event, condition } = boundary;
  if (event?.type !== 'ERROR' || (event.code !== null && event.code !== code)) {
    return false;
  }
  return condition === null || isTrue(run, condition, host, 'CONDITION_EVALUATION');
}

/**
 * Throws a BPMN error of an error end event, a workflow or a failed called process. An uncaught error fails the process; the activity
 * that called the process then throws it again, and so on up to the first process.
 */
export function throwBpmnError(run: StepRun, thrower: TokenState, code: string | null): void {
  if (!throwError(run, thrower, { kind: 'BPMN', code })) {
    endInstance(run, 'FAILED', code);
  }
}

const TOKEN_STATES = {
  TERMINATED: 'TERMINATED',
  EXPIRED: 'EXPIRED',
  DISMISSED: 'DISMISSED',
  ABORTED: 'ABORTED',
  FAILED: 'TERMINATED',
} as const satisfies Partial<Record<InstanceStatus, TokenStatus & EndOfChildren>>;

/** Ends the instance with all tokens and running called processes (docs/process-semantics.md, section 3). */
export function endInstance(run: StepRun, state: keyof typeof TOKEN_STATES, errorCode: string | null): void {
  const { instance } = run;
  for (const id of instance.tokens.keys()) {
    removeToken(run, id, TOKEN_STATES[state]);
  }
  run.queue.length = 0;
  if (run.definition.startsProcesses) {
    endChildren(run, TOKEN_STATES[state]);
  }
  run.setInstanceState(state, state === 'FAILED' ? { errorCode } : {});
  if (instance.parentUuid !== null) {
    run.jobs.push({ kind: 'NOTIFY_PARENT', outcome: { state, errorCode } });
  }
}
