import type { JsonObject } from '../../json/json.js';
import { hasOutstandingActions, isDone, runAutomaticActions } from './actions.js';
import { EngineRefusal } from '../state/engine.errors.js';
import type { NodeStatus, TokenState } from '../state/engine.types.js';
import { publish, arm, isAwaitingMessage, targetsOf } from '../flow/waits.js';
import { mergeData } from '../state/process-data.js';
import type { RuntimeNode } from '../state/runtime-definition.js';
import { fireBoundary } from '../flow/scopes.js';
import type { StepRun } from '../state/step-run.js';
import { depart, enter, leave } from '../flow/token-flow.js';
import { hasPendingAction } from '../state/tokens.js';

/** Handles the arrival at a task: runs automatic actions, then leaves or rests. */
export function enterActivity(run: StepRun, id: number): void {
  runAutomaticActions(run, id);
  if (mayLeave(run, id)) {
    leaveActivity(run, id);
  } else {
    rest(run, id);
  }
}

/** Continues a resting token after something was done at its node: it leaves when nothing is outstanding. */
export function continueActivity(run: StepRun, id: number): void {
  runAutomaticActions(run, id);
  if (mayLeave(run, id)) {
    leaveActivity(run, id);
  } else {
    run.edit(id).status = restingStatus(run.edit(id), run.nodeOf(run.edit(id)));
  }
}

export function rest(run: StepRun, id: number): void {
  const token = run.edit(id);
  token.status = restingStatus(token, run.nodeOf(token));
  arm(run, id);
}

function mayLeave(run: StepRun, id: number): boolean {
  const token = run.edit(id);
  const node = run.nodeOf(token);
  return !hasOutstandingActions(node, token.actions) && !isAwaitingMessage(token, node);
}

function leaveActivity(run: StepRun, id: number): void {
  const token = run.edit(id);
  const { kind, event } = run.nodeOf(token);
  if (kind === 'SEND_TASK' && event?.type === 'MESSAGE') {
    publish(run, token, event, {});
  }
  leave(run, id);
}

/** Returns the status of a resting token (docs/process-semantics.md, section 4). */
function restingStatus(token: TokenState, node: RuntimeNode): NodeStatus {
  if (node.kind === 'RECEIVE_TASK') {
    return isAwaitingMessage(token, node) ? 'WAITING_MESSAGE' : token.status;
  }
  if (hasPendingAction(token)) {
    return 'EXECUTING';
  }
  return node.ordered.some((action) => isDone(token.actions, action)) ? 'EXECUTED_PARTIAL' : 'ARRIVED';
}

/** Handles the arrival at an intermediate catch event. */
export function enterCatchEvent(run: StepRun, id: number): void {
  const token = run.edit(id);
  const { event } = run.nodeOf(token);
  if (event?.type !== 'TIMER' && event?.type !== 'MESSAGE') {
    leave(run, id);
    return;
  }
  token.status = event.type === 'TIMER' ? 'WAITING_TIMER_EVENT' : 'WAITING_MESSAGE_EVENT';
  arm(run, id);
}

/** Handles the arrival at an event-based gateway: waits for the first of its events (BPMN 2.0.2, 13.4.4). */
export function enterEventGateway(run: StepRun, id: number): void {
  const token = run.edit(id);
  const messages = targetsOf(run, run.nodeOf(token)).some(({ event }) => event?.type === 'MESSAGE');
  token.status = messages ? 'WAITING_MESSAGE_EVENT' : 'WAITING_TIMER_EVENT';
  arm(run, id);
}

/**
 * Handles an event that a token waited for: at its node, at a boundary event, or after an event-based gateway.
 * @param index node of the event
 * @param payload of a message; null for a timer
 * @throws EngineRefusal STALE when the token does not wait for it
 */
export function trigger(run: StepRun, token: TokenState, index: number, payload: JsonObject | null): void {
  const node = run.nodeOf(token);
  const target = run.definition.node(index);
  const type = payload === null ? 'TIMER_FIRED' : 'MESSAGE_RECEIVED';
  run.event(type, { id: token.id, node: index });
  mergeData(run, payload ?? {});
  if (target.kind === 'BOUNDARY_EVENT' && node.boundaries.includes(index)) {
    fireBoundary(run, token, target);
  } else if (index === token.node && isWaiting(token)) {
    run.edit(token.id).status = payload === null ? 'MESSAGE_RESPONSE_TIMED_OUT' : 'MESSAGE_RECEIVED';
    continueWaiting(run, token.id, node);
  } else {
    chooseEvent(run, token, node, target, payload);
  }
}

function isWaiting({ status }: TokenState): boolean {
  return ['WAITING_MESSAGE', 'WAITING_MESSAGE_EVENT', 'WAITING_TIMER_EVENT'].includes(status);
}

function continueWaiting(run: StepRun, id: number, node: RuntimeNode): void {
  if (node.kind === 'RECEIVE_TASK') {
    continueActivity(run, id);
    return;
  }
  if (node.event?.type === 'TIMER') {
    run.edit(id).status = 'EXECUTED_COMPLETE';
  }
  leave(run, id);
}

/** Moves the token to the first event that occurred after the gateway, which cancels the waits for the others. */
function chooseEvent(
  run: StepRun,
  token: TokenState,
  gateway: RuntimeNode,
  target: RuntimeNode,
  payload: JsonObject | null,
): void {
  const chosen =
    gateway.kind === 'EVENT_BASED_GATEWAY' &&
    targetsOf(run, gateway).some(({ index }) => index === target.index);
  if (!chosen || !isWaiting(token)) {
    throw new EngineRefusal('STALE');
  }
  const edited = run.edit(token.id);
  edited.status = 'EXECUTED_COMPLETE';
  depart(run, edited);
  enter(run, token.id, target.index);
  edited.status = payload === null ? 'EXECUTED_COMPLETE' : 'MESSAGE_RECEIVED';
  if (target.kind === 'RECEIVE_TASK') {
    enterActivity(run, token.id);
  } else {
    leave(run, token.id);
  }
}
