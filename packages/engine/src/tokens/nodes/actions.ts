import { omitKeys, pickKeys } from '../../paths/data-keys.js';
import type { JsonObject } from '../../json/json.js';
import { deepMerge, InvalidDataError } from '../../paths/data-paths.js';
import type {
  ActionOperation,
  CallTarget,
  CopyRule,
  GraphAction,
  GraphUiAction,
} from '../../definitions/model/process-graph.types.js';
import { EngineRefusal } from '../state/engine.errors.js';
import type { ActionState, EngineJob, TokenState } from '../state/engine.types.js';
import { mergeData, rendered, setData, valuesAt } from '../state/process-data.js';
import type { RuntimeNode } from '../state/runtime-definition.js';
import type { StepRun } from '../state/step-run.js';
import { publish } from '../flow/waits.js';
import { delayed } from '../state/due-times.js';

/** States of a node's actions in the current visit, by svcUuid. */
export type ActionStates = Readonly<Record<string, ActionState>>;

export function isDone(states: ActionStates, action: GraphAction): boolean {
  return (states[action.svcUuid]?.runs ?? 0) > 0;
}

function isPending(states: ActionStates, action: GraphAction): boolean {
  return states[action.svcUuid]?.state === 'PENDING';
}

/** Whether an automatic action must run: once, or once per execution of its parent. */
function isDue(states: ActionStates, action: GraphAction, parent: GraphAction | undefined): boolean {
  const runs = states[action.svcUuid]?.runs ?? 0;
  return parent === undefined ? runs === 0 : runs < (states[parent.svcUuid]?.runs ?? 0);
}

/** Whether an action has no parent, or its parent has been executed. */
function isEnabled(states: ActionStates, action: GraphAction, parent: GraphAction | undefined): boolean {
  return action.parent === null || (parent !== undefined && isDone(states, parent));
}

function parentOf(node: RuntimeNode, action: GraphAction): GraphAction | undefined {
  return action.parent === null ? undefined : node.actionByName.get(action.parent);
}

/** Whether the token must not leave before this action is done (docs/process-semantics.md, section 6). */
function isOutstanding(node: RuntimeNode, states: ActionStates, action: GraphAction): boolean {
  // Leaving would cancel pending work that its caller believes accepted.
  if (isPending(states, action)) {
    return true;
  }
  const parent = parentOf(node, action);
  if (!isEnabled(states, action, parent) || (action.manual && action.optional)) {
    return false;
  }
  return action.manual
    ? !isDone(states, action)
    : parent?.autoRunChildren !== false && isDue(states, action, parent);
}

/** Whether an action still keeps the token on the node. */
export function hasOutstandingActions(node: RuntimeNode, states: ActionStates): boolean {
  return node.ordered.some((action) => isOutstanding(node, states, action));
}

/** Whether a manual action can be executed now. */
export function isOpen(node: RuntimeNode, states: ActionStates, action: GraphAction): boolean {
  return (
    action.manual &&
    isEnabled(states, action, parentOf(node, action)) &&
    !isPending(states, action) &&
    (action.repeatable || !isDone(states, action))
  );
}

/**
 * Runs the automatic actions that are due, one after the other, so a delay or a workflow holds up the following actions. Children of
 * a manual action run after it, independently of the others.
 */
export function runAutomaticActions(run: StepRun, id: number): void {
  const token = run.token(id);
  const node = token === undefined ? undefined : run.nodeOf(token);
  if (node === undefined || node.ordered.length === 0) {
    return;
  }
  const first = node.ordered.filter((action) => action.parent === null && !action.manual);
  runChain(run, id, node, first, undefined);
  for (const action of node.ordered.filter(({ manual }) => manual)) {
    runChildren(run, id, node, action);
  }
}

/** Runs actions in order. Returns false if one of them is not done yet. */
function runChain(
  run: StepRun,
  id: number,
  node: RuntimeNode,
  actions: readonly GraphAction[],
  parent: GraphAction | undefined,
): boolean {
  return actions.every((action) => {
    const states = run.token(id)?.actions ?? {};
    if (isPending(states, action)) {
      return false;
    }
    if (isDue(states, action, parent) && !begin(run, id, action)) {
      return false;
    }
    return runChildren(run, id, node, action);
  });
}

function runChildren(run: StepRun, id: number, node: RuntimeNode, action: GraphAction): boolean {
  const states = run.token(id)?.actions ?? {};
  if (!action.autoRunChildren || !isDone(states, action)) {
    return true;
  }
  const children = (node.children.get(action.name) ?? []).filter(({ manual }) => !manual);
  return runChain(run, id, node, children, action);
}

function begin(run: StepRun, id: number, action: GraphAction): boolean {
  if (action.delay === null) {
    return perform(run, id, action);
  }
  const token = setPending(run, id, action);
  const { visit } = token;
  const at = delayed(run, action.delay, token);
  run.jobs.push({ kind: 'ACTION_DUE', tokenId: id, visit, actionSvcUuid: action.svcUuid, at });
  return false;
}

/**
 * Executes the operation of an action.
 * @returns whether it is done; false if it continues in the background
 */
export function perform(run: StepRun, id: number, action: GraphAction): boolean {
  const { operation } = action;
  if (operation.kind === 'START_WORKFLOW') {
    const token = setPending(run, id, action);
    const { workflow, appId, input } = operation;
    const given = input === null ? run.instance.data : rendered(run, input, token);
    const place = { tokenId: id, visit: token.visit, actionSvcUuid: action.svcUuid };
    run.jobs.push({ kind: 'WORKFLOW', ...place, workflow, appId, input: given });
    return false;
  }
  performNow(run, run.edit(id), action, operation);
  complete(run, id, action);
  return true;
}

function performNow(
  run: StepRun,
  token: TokenState,
  action: GraphAction,
  operation: Exclude<ActionOperation, { kind: 'START_WORKFLOW' }>,
): void {
  switch (operation.kind) {
    case 'SAVE_DATA':
      // The body of a manual action has already been stored.
      if (!action.manual && operation.data !== null) {
        mergeData(run, pickKeys(rendered(run, operation.data, token), action.keys));
      }
      return;
    case 'START_SUBPROCESS':
      return startSubprocess(run, token, action);
    case 'APPEND_TO_PARENT':
      return appendToParent(run, token, operation.paths);
    case 'SEND_MESSAGE': {
      const payload = operation.payload === null ? {} : rendered(run, operation.payload, token);
      return publish(run, token, operation, payload);
    }
  }
}

/** Requests a fire-and-forget process, also to retry a failed request. */
export function startSubprocess(run: StepRun, token: CallPlace, action: GraphAction): void {
  const { operation, svcUuid: actionSvcUuid } = action;
  if (operation.kind === 'START_SUBPROCESS') {
    const data = copiedData(run.instance.data, operation.copy);
    requestChild(run, token, operation, { actionSvcUuid, index: 0, waits: false, data });
  }
}

/** Origin of a call: a token on a visit of a node. */
export type CallPlace = Pick<TokenState, 'id' | 'node' | 'visit'>;

/** Requests one called process. */
export function requestChild(
  run: StepRun,
  { id: tokenId, visit, node }: CallPlace,
  { process, appId, startCondition }: Pick<CallTarget, 'process' | 'appId' | 'startCondition'>,
  call: Pick<Extract<EngineJob, { kind: 'CALL' }>, 'actionSvcUuid' | 'index' | 'waits' | 'data'>,
): void {
  const { actionSvcUuid, index, waits, data } = call;
  const ofAction = actionSvcUuid === null ? {} : { actionSvcUuid };
  run.event('CHILD_STARTED', { id: tokenId, node }, { process, ...ofAction, index });
  const { seq } = run.instance;
  const request = { actionSvcUuid, index, seq, waits, process, appId, startCondition, data };
  run.jobs.push({ kind: 'CALL', tokenId, visit, node, ...request });
}

export function copiedData(data: JsonObject, copy: CopyRule): JsonObject {
  switch (copy.mode) {
    case 'ALL':
      return data;
    case 'ONLY':
      return pickKeys(data, copy.keys);
    case 'EXCEPT':
      return omitKeys(data, copy.keys);
  }
}

function appendToParent(run: StepRun, token: TokenState, paths: Readonly<Record<string, string>>): void {
  if (run.instance.parentUuid === null) {
    run.warn(`Node "${run.nodeOf(token).key}" appends to a parent process, but this one has none.`);
    return;
  }
  const values = valuesAt(run, paths, token);
  if (values.length > 0) {
    run.jobs.push({ kind: 'APPEND_TO_PARENT', values });
  }
}

/**
 * Stores a caller's input for a manual action: merged into the default body, without excluded keys, limited to the whitelist.
 * @throws EngineRefusal DATA_INVALID when the caller sent data that must not become process data
 */
export function storeBody(
  run: StepRun,
  action: GraphAction,
  uiAction: GraphUiAction,
  body: JsonObject,
): void {
  const whole = withDefaults(uiAction.body ?? {}, body);
  mergeData(run, pickKeys(omitKeys(whole, uiAction.excludeKeys), action.keys));
}

function withDefaults(defaults: JsonObject, body: JsonObject): JsonObject {
  try {
    return deepMerge(defaults, body);
  } catch (error) {
    throw error instanceof InvalidDataError ? new EngineRefusal('DATA_INVALID', error.message) : error;
  }
}

export function complete(run: StepRun, id: number, action: GraphAction): void {
  const token = run.edit(id);
  const runs = (token.actions[action.svcUuid]?.runs ?? 0) + 1;
  setState(token, action, { state: 'COMPLETED', runs, lastExecutedAt: run.context.now });
  run.event('ACTION_EXECUTED', token, { actionSvcUuid: action.svcUuid, name: action.name, runs });
}

/** Stores the output of a workflow under the key that the definition names. */
export function storeOutput(run: StepRun, action: GraphAction, output: unknown): void {
  const { operation } = action;
  if (operation.kind === 'START_WORKFLOW' && operation.resultKey !== null) {
    setData(run, operation.resultKey, output);
  }
}

function setPending(run: StepRun, id: number, action: GraphAction): TokenState {
  const token = run.edit(id);
  const { runs = 0, lastExecutedAt = run.context.now } = token.actions[action.svcUuid] ?? {};
  setState(token, action, { state: 'PENDING', runs, lastExecutedAt });
  return token;
}

function setState(token: TokenState, action: GraphAction, state: ActionState): void {
  token.actions = { ...token.actions, [action.svcUuid]: state };
}
