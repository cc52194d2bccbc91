import { jsonSize, type JsonObject, type JsonValue } from '../../json/json.js';
import { setPath } from '../../paths/data-paths.js';
import type { CallTarget } from '../../definitions/model/process-graph.types.js';
import { requestChild, copiedData, type CallPlace } from './actions.js';
import { EngineIncident, EngineRefusal } from '../state/engine.errors.js';
import type {
  CallProgress,
  ChildOutcome,
  EngineCommand,
  IncidentType,
  TokenState,
} from '../state/engine.types.js';
import { setData } from '../state/process-data.js';
import { throwBpmnError, throwError } from '../flow/scopes.js';
import type { StepRun } from '../state/step-run.js';
import { leave, valueOf } from '../flow/token-flow.js';
import { arm } from '../flow/waits.js';

/** Maximum size of the data copies that one step hands to called processes, in multiples of the process data limit. */
const COPIED_DATA = 8;

/** A call activity and the elements that it runs for. */
interface Call {
  readonly target: CallTarget;
  /** Elements of the collection; null without multi-instance. */
  readonly items: JsonValue[] | null;
}

/**
 * Handles the arrival at a call activity (docs/process-semantics.md, section 9). The token stays until all called processes have
 * ended; without `waits`, or with an empty collection, it leaves immediately.
 */
export function enterCallActivity(run: StepRun, id: number): void {
  const token = run.edit(id);
  const target = targetOf(run, token, token.node);
  const items = itemsOf(run, token, target);
  const total = items?.length ?? 1;
  if (!target.waits || total === 0) {
    startUnawaited(run, token, { target, items });
    leave(run, id);
    return;
  }
  token.call = { total, started: 0, results: {}, items };
  token.status = 'EXECUTING';
  run.dataChanged ||= items !== null;
  startMore(run, token, { target, items });
  arm(run, id);
}

function targetOf(run: StepRun, token: TokenState, node: number): CallTarget {
  const { call } = run.definition.node(node);
  if (call === null) {
    const message = 'The call activity names no process.';
    throw new EngineIncident('PROCESS_DEFINITION', 'DEFINITION', message, { node, tokenId: token.id });
  }
  return call;
}

function itemsOf(run: StepRun, token: CallPlace, target: CallTarget): JsonValue[] | null {
  const { multiInstance } = target;
  if (multiInstance === null) {
    return null;
  }
  const value = valueOf(run, multiInstance.collection, token);
  if (!Array.isArray(value)) {
    throw run.incident('NODE', `The collection ${multiInstance.collection} is not a list.`, token);
  }
  const { items } = run.context.limits;
  if (value.length > items) {
    const message = `The collection has ${value.length} elements; the maximum is ${items}.`;
    throw run.incident('NODE', message, token);
  }
  return value as JsonValue[];
}

function startUnawaited(run: StepRun, token: TokenState, call: Call): void {
  const total = call.items?.length ?? 1;
  const most = copiesAtOnce(run, call);
  if (total > most) {
    const message = `The call would start ${total} processes with copies of the data; the maximum is ${most}.`;
    throw run.incident('NODE', message, token);
  }
  if (call.target.waits) {
    storeResult(run, token, { ...call, items: [] }, {});
  }
  for (let index = 0; index < total; index += 1) {
    startChild(run, token, call, index);
  }
}

/** Starts as many children as may run concurrently: one for a sequential call, otherwise as many as the data copies allow. */
function startMore(run: StepRun, token: TokenState, call: Call): void {
  const { call: progress } = token;
  if (progress === null) {
    return;
  }
  const running = progress.started - Object.keys(progress.results).length;
  const atOnce = call.target.multiInstance?.sequential === true ? 1 : copiesAtOnce(run, call);
  const until = Math.min(progress.total, progress.started + atOnce - running);
  for (let index = progress.started; index < until; index += 1) {
    startChild(run, token, call, index);
  }
  token.call = { ...progress, started: Math.max(until, progress.started) };
}

function copiesAtOnce(run: StepRun, { target, items }: Call): number {
  if (items === null || items.length < 2) {
    return 1;
  }
  const size = jsonSize(copiedData(run.instance.data, target.copy));
  return Math.max(1, Math.floor((COPIED_DATA * run.context.limits.dataBytes) / size));
}

function startChild(run: StepRun, place: CallPlace, call: Call, index: number): void {
  const { target, items } = call;
  const copy = copiedData(run.instance.data, target.copy);
  const data = items === null ? copy : setPath(copy, 'item', items[index]);
  requestChild(run, place, target, { actionSvcUuid: null, index, waits: target.waits, data });
}

/**
 * Handles the end of a child. An uncaught BPMN error of the child is thrown again here. Any end other than FINISHED is a technical
 * failure of the activity.
 * @throws EngineRefusal STALE when the token no longer waits for this child
 * @throws EngineIncident of source SUBPROCESS for a failure that no error boundary event names
 */
export function childEnded(run: StepRun, token: TokenState, index: number, outcome: ChildOutcome): void {
  const progress = awaited(token, index);
  const { state } = outcome;
  run.event('CHILD_ENDED', token, state === 'FAILED' ? { index, ...outcome } : { index, state });
  if (outcome.state === 'FAILED') {
    throwBpmnError(run, token, outcome.errorCode);
    return;
  }
  if (outcome.state !== 'FINISHED') {
    const message = `Child ${index} of the call activity is ${state}.`;
    throwFailure(run, token, `CHILD_${state}`, 'SUBPROCESS', message);
    return;
  }
  const call = { target: targetOf(run, token, token.node), items: progress.items };
  const edited = run.edit(token.id);
  const results = { ...progress.results, [index]: resultOf(outcome.data, call.target) };
  edited.call = { ...progress, results };
  run.dataChanged = true;
  if (Object.keys(results).length < progress.total) {
    startMore(run, edited, call);
    return;
  }
  storeResult(run, edited, call, results);
  leave(run, token.id);
}

/**
 * Handles an awaited child that cannot be started.
 * @throws EngineRefusal STALE when the token no longer waits for it
 * @throws EngineIncident of source SUBPROCESS when no error boundary event names `CHILD_NOT_STARTED`
 */
export function callFailed(
  run: StepRun,
  token: TokenState,
  { index, type, message }: Extract<EngineCommand, { kind: 'CALL_FAILED' }>,
): void {
  awaited(token, index);
  throwFailure(run, token, 'CHILD_NOT_STARTED', type, message);
}

function awaited({ call }: TokenState, index: number): CallProgress {
  if (call === null || index >= call.started || Object.hasOwn(call.results, index)) {
    throw new EngineRefusal('STALE');
  }
  return call;
}

function throwFailure(
  run: StepRun,
  token: TokenState,
  code: string,
  type: IncidentType,
  message: string,
): void {
  if (!throwError(run, token, { kind: 'TECHNICAL', code })) {
    const { node, id: tokenId } = token;
    throw new EngineIncident('SUBPROCESS', type, `${code}: ${message}`, { node, tokenId });
  }
}

/** Returns the child's `result` or, without one, all its data; null if the call stores no output. */
function resultOf(data: JsonObject, target: CallTarget): JsonValue {
  if (target.outputKey === null) {
    return null;
  }
  return (Object.hasOwn(data, 'result') ? data.result : data) as JsonValue;
}

function storeResult(
  run: StepRun,
  token: TokenState,
  { target, items }: Call,
  results: Readonly<Record<string, JsonValue>>,
): void {
  // Results become process data here and must not be counted twice.
  token.call = null;
  if (target.outputKey !== null) {
    setData(run, target.outputKey, items === null ? results[0] : items.map((_, index) => results[index]));
  }
}

/**
 * Restarts an awaited child that could not be started or has failed.
 * @param index required if there are several, since the others may still run and must not run twice
 * @returns false when there is nothing to restart
 */
export function retryAwaited(run: StepRun, token: TokenState, index: number | null): boolean {
  const { call: progress } = token;
  if (progress === null || (index === null && progress.total > 1)) {
    return false;
  }
  const child = index ?? 0;
  if (child >= progress.started || Object.hasOwn(progress.results, child)) {
    return false;
  }
  startChild(run, token, { target: targetOf(run, token, token.node), items: progress.items }, child);
  return true;
}

/**
 * Restarts a fire-and-forget child with the current data; its token has moved on.
 * @returns false when there is nothing to restart
 */
export function retryUnawaited(run: StepRun, place: CallPlace, index: number): boolean {
  const target = run.definition.graph.nodes[place.node]?.call;
  if (target === undefined || target === null || target.waits) {
    return false;
  }
  const items = itemsOf(run, place, target);
  if (index >= (items?.length ?? 1)) {
    return false;
  }
  startChild(run, place, { target, items }, index);
  return true;
}
