import { InvalidDataError, InvalidDataPathError } from '../paths/data-paths.js';
import { ExpressionError } from '../expressions/expression.errors.js';
import { complete, perform, startSubprocess, storeOutput } from './nodes/actions.js';
import { continueActivity, trigger } from './nodes/activities.js';
import { drain } from './nodes/arrivals.js';
import { callFailed, childEnded, retryAwaited, retryUnawaited } from './nodes/calls.js';
import { EngineIncident, EngineRefusal } from './state/engine.errors.js';
import type {
  EngineCommand,
  InstanceState,
  StepContext,
  StepResult,
  TokenState,
} from './state/engine.types.js';
import { checkDataSize, checkJobsSize, dataIncident, patchData, setData } from './state/process-data.js';
import type { ActionPlace, RuntimeDefinition } from './state/runtime-definition.js';
import { endInstance, throwBpmnError, throwError } from './flow/scopes.js';
import { StepRun } from './state/step-run.js';
import { markStuckJoins } from './flow/stuck-joins.js';
import { createToken } from './state/tokens.js';
import { executeUiAction } from './ui-actions/ui-actions.js';

type Kind = EngineCommand['kind'];
type Command<K extends Kind> = Extract<EngineCommand, { kind: K }>;

/** Handler of a command and its precondition. */
interface Rule<K extends Kind> {
  /** Required state of the instance; null if the handler checks it. */
  from: InstanceState['state'] | null;
  /** Whether the command comes from a background job, which is dropped when it arrives too late. */
  isBackground: boolean;
  execute: (run: StepRun, command: Command<K>) => void;
}

const foreground = <K extends Kind>(from: Rule<K>['from'], execute: Rule<K>['execute']): Rule<K> => ({
  from,
  isBackground: false,
  execute,
});
const background = <K extends Kind>(execute: Rule<K>['execute']): Rule<K> => ({
  from: 'STARTED',
  isBackground: true,
  execute,
});

/** Rule of every command; the type makes sure that none is missing. */
const RULES: { readonly [K in Kind]: Rule<K> } = {
  START: foreground(null, start),
  UI_ACTION: foreground(null, uiAction),
  HOLD: foreground('STARTED', (run) => run.setInstanceState('ONHOLD')),
  RELEASE: foreground('ONHOLD', (run) => run.setInstanceState('STARTED')),
  END: foreground(null, end),
  RETRY: foreground('STARTED', retry),
  CHANGE_DATA: foreground('STARTED', (run, { patch }) => patchData(run, patch)),
  // Every step ends by checking the joins.
  ACTION_DUE: background(actionDue),
  ACTION_DONE: background(actionDone),
  ACTION_FAILED: background(actionFailed),
  ACTION_ERROR: background((run, command) =>
    throwBpmnError(run, pendingAction(run, command).token, command.errorCode),
  ),
  TIMER: background((run, command) => trigger(run, visitOf(run, command), command.node, null)),
  MESSAGE: background((run, command) => trigger(run, visitOf(run, command), command.node, command.payload)),
  CHILD_ENDED: background((run, command) =>
    childEnded(run, visitOf(run, command), command.index, command.outcome),
  ),
  CALL_FAILED: background((run, command) => callFailed(run, visitOf(run, command), command)),
  APPEND: background(append),
  CONTINUE: background(proceed),
};

/**
 * Executes one command, moving an instance from one resting state to the next (BPMN 2.0.2, clause 13; docs/process-semantics.md). It
 * reads no clock, draws no random numbers and does not change the given state. Its cost does not depend on the size of the definition.
 * @throws EngineRefusal when the state does not allow the command; store nothing
 * @throws EngineIncident when the definition or its data fail; store only the incident
 */
export function step(
  definition: RuntimeDefinition,
  instance: InstanceState,
  command: EngineCommand,
  context: StepContext,
): StepResult {
  const run = new StepRun(definition, instance, command, context);
  try {
    execute(run, command.kind, command);
    drain(run);
    markStuckJoins(run);
  } catch (error) {
    throw isDataError(error) ? dataIncident(run, error) : error;
  }
  checkDataSize(run);
  checkJobsSize(run);
  updateActionNode(run);
  return run.finish();
}

function isDataError(error: unknown): error is Error {
  return [InvalidDataError, InvalidDataPathError, ExpressionError].some((kind) => error instanceof kind);
}

function execute<K extends Kind>(run: StepRun, kind: K, command: Command<K>): void {
  const rule = RULES[kind];
  if (rule.from !== null) {
    requireState(run, rule.from, kind);
  }
  rule.execute(run, command);
}

function append(run: StepRun, { values }: Command<'APPEND'>): void {
  values.forEach(({ path, value }) => setData(run, path, value));
  run.event('DATA_APPENDED', null, { paths: values.map(({ path }) => path) });
}

/** @throws EngineRefusal STALE for background commands when the instance has ended, otherwise INSTANCE_NOT_STARTED */
function requireState(run: StepRun, state: InstanceState['state'], kind: Kind): void {
  const is = run.instance.state;
  if (is === state) {
    return;
  }
  const ended = is !== 'STARTED' && is !== 'ONHOLD' && is !== 'CREATED';
  throw new EngineRefusal(ended && RULES[kind].isBackground ? 'STALE' : 'INSTANCE_NOT_STARTED');
}

function start(run: StepRun, { startNode, data, patch }: Command<'START'>): void {
  const { instance } = run;
  if (instance.state !== 'CREATED') {
    throw new EngineRefusal('INSTANCE_STARTED');
  }
  instance.data = data;
  run.dataChanged = true;
  if (patch !== undefined) {
    patchData(run, patch);
  }
  run.setInstanceState('STARTED');
  const token = createToken(run, { node: startNode, parentId: null, scopeTokenId: null });
  run.queue.push({ tokenId: token.id, node: startNode });
}

function uiAction(run: StepRun, command: Command<'UI_ACTION'>): void {
  const place = run.definition.uiAction(command.uiActionSvcUuid);
  if (place === undefined) {
    throw new EngineRefusal('ACTION_UNKNOWN');
  }
  requireState(run, 'STARTED', command.kind);
  executeUiAction(run, run.token(command.tokenId), place, command);
}

/** Updates the node of the token of a UI action after all tokens have come to rest; the token may have ended or been split. */
function updateActionNode(run: StepRun): void {
  if (run.action !== null) {
    const { tokenId, node } = run.action;
    run.action = { ...run.action, node: run.lastOf(tokenId)?.node ?? node };
  }
}

/** Ends the instance, even one that could not start, because nothing else would ever close it. */
function end(run: StepRun, command: Command<'END'>): void {
  if (run.instance.state !== 'ONHOLD' && run.instance.state !== 'CREATED') {
    requireState(run, 'STARTED', command.kind);
  }
  endInstance(run, command.state, null);
}

/** @throws EngineRefusal STALE when the token has ended or moved on */
function visitOf(run: StepRun, { tokenId, visit }: { tokenId: number; visit: number }): TokenState {
  const token = run.token(tokenId);
  if (token === undefined || token.visit !== visit || isMoving(run, tokenId)) {
    throw new EngineRefusal('STALE');
  }
  return token;
}

function isMoving(run: StepRun, id: number): boolean {
  return run.instance.pending.some(({ tokenId }) => tokenId === id);
}

/** @throws EngineRefusal STALE when the action is not pending in this visit */
function pendingAction(
  run: StepRun,
  command: { tokenId: number; visit: number; actionSvcUuid: string },
): { token: TokenState; place: ActionPlace } {
  const token = visitOf(run, command);
  const place = run.definition.action(command.actionSvcUuid);
  if (place?.node.index !== token.node || token.actions[command.actionSvcUuid]?.state !== 'PENDING') {
    throw new EngineRefusal('STALE');
  }
  return { token, place };
}

function actionDue(run: StepRun, command: Command<'ACTION_DUE'>): void {
  const { token, place } = pendingAction(run, command);
  perform(run, token.id, place.action);
  continueActivity(run, token.id);
}

function actionDone(run: StepRun, command: Command<'ACTION_DONE'>): void {
  const { token, place } = pendingAction(run, command);
  storeOutput(run, place.action, command.output);
  complete(run, token.id, place.action);
  continueActivity(run, token.id);
}

function actionFailed(run: StepRun, command: Command<'ACTION_FAILED'>): void {
  const { token } = pendingAction(run, command);
  if (!throwError(run, token, { kind: 'TECHNICAL', code: command.errorCode })) {
    const { node, id: tokenId } = token;
    const { actionSvcUuid } = command;
    throw new EngineIncident('ACTION', 'WORKFLOW', command.message, { node, tokenId, actionSvcUuid });
  }
}

function proceed(run: StepRun): void {
  const { pending } = run.instance;
  if (pending.length === 0) {
    throw new EngineRefusal('STALE');
  }
  if (run.command.kind === 'CONTINUE') {
    checkContinues(run);
  } else {
    run.instance.continues = 0;
  }
  run.instance.pending = [];
  run.queue.push(...pending);
}

/** @throws EngineIncident when tokens have moved for too long without coming to rest; a retry lets them continue */
function checkContinues({ instance, context, definition }: StepRun): void {
  const [first] = instance.pending;
  if (first !== undefined && instance.continues >= context.limits.continues) {
    const node = definition.flow(first.flow).source;
    const message = `The process ran for ${instance.continues} steps without waiting: it may contain an endless loop.`;
    throw new EngineIncident('NODE', 'ENGINE', message, { node, tokenId: first.tokenId });
  }
}

function retry(run: StepRun, command: Command<'RETRY'>): void {
  if (command.patch !== undefined) {
    patchData(run, command.patch);
  }
  run.event('RETRY', run.token(command.tokenId) ?? null, { actionSvcUuid: command.actionSvcUuid });
  const done = command.actionSvcUuid === null ? retryNode(run, command) : retryAction(run, command);
  if (!done) {
    throw new EngineRefusal('NOTHING_TO_RETRY');
  }
}

function retryNode(run: StepRun, { tokenId, visit, call }: Command<'RETRY'>): boolean {
  const token = run.token(tokenId);
  if (call === undefined && isMoving(run, tokenId)) {
    proceed(run);
    return true;
  }
  if (token?.visit === visit && token.call !== null) {
    return retryAwaited(run, token, call?.index ?? null);
  }
  return call !== undefined && retryUnawaited(run, { id: tokenId, visit, node: call.node }, call.index);
}

function retryAction(run: StepRun, command: Command<'RETRY'>): boolean {
  const token = run.token(command.tokenId);
  const place = run.definition.action(command.actionSvcUuid ?? '');
  if (place !== undefined && command.call !== undefined) {
    // Fire-and-forget: the token may have moved on or ended.
    startSubprocess(run, { id: command.tokenId, visit: command.visit, node: place.node.index }, place.action);
    return true;
  }
  const isThere = token?.visit === command.visit && place?.node.index === token.node;
  if (!isThere || token.actions[place.action.svcUuid]?.state !== 'PENDING') {
    return false;
  }
  perform(run, token.id, place.action);
  continueActivity(run, token.id);
  return true;
}
