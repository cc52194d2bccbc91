import { InvalidDataError, InvalidDataPathError } from '../../../language/paths/data-paths.errors.js';
import { ExpressionError } from '../../../language/expressions/expression.errors.js';
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
import { checkDataSize, checkJobsSize, faultOfData, setData } from './state/process-data.js';
import type { ActionPlace, RuntimeDefinition } from './state/runtime-definition.js';
import { endInstance, throwBpmnError, throwError } from './flow/scopes.js';
import { StepRun } from './state/step-run.js';
import { markStuckJoins } from './flow/stuck-joins.js';
import { createToken } from './state/tokens.js';
import { executeUiAction } from './ui-actions/ui-actions.js';

type Command<K extends EngineCommand['kind']> = Extract<EngineCommand, { kind: K }>;
type ActionCommand = Extract<EngineCommand, { kind: `ACTION_${string}` }>;

const BACKGROUND: ReadonlySet<EngineCommand['kind']> = new Set([
  'ACTION_DUE',
  'ACTION_DONE',
  'ACTION_FAILED',
  'ACTION_ERROR',
  'TIMER',
  'MESSAGE',
  'CHILD_ENDED',
  'CALL_FAILED',
  'APPEND',
  'CONTINUE',
]);

/**
 * Carries out one command: from a state at rest to the next one (BPMN 2.0.2, clause 13; docs/process-semantics.md). It reads no
 * clock, makes no random number and leaves the given state as it was; its cost does not grow with the definition.
 * @throws EngineRefusal when the command does not fit the state; nothing is to be stored
 * @throws EngineIncident when the definition or its data fail; nothing is to be stored but the incident
 */
export function step(
  definition: RuntimeDefinition,
  instance: InstanceState,
  command: EngineCommand,
  context: StepContext,
): StepResult {
  const run = new StepRun(definition, instance, command, context);
  try {
    carryOut(run, command);
    drain(run);
    markStuckJoins(run);
  } catch (error) {
    throw isFaultOfData(error) ? faultOfData(run, error) : error;
  }
  checkDataSize(run);
  checkJobsSize(run);
  tellWhereItStands(run);
  return run.finish();
}

function isFaultOfData(error: unknown): error is Error {
  return [InvalidDataError, InvalidDataPathError, ExpressionError].some((kind) => error instanceof kind);
}

function carryOut(run: StepRun, command: EngineCommand): void {
  switch (command.kind) {
    case 'START':
      return start(run, command);
    case 'UI_ACTION':
      return uiAction(run, command);
    case 'HOLD':
      demandState(run, 'STARTED', command);
      return run.setInstanceState('ONHOLD');
    case 'RELEASE':
      demandState(run, 'ONHOLD', command);
      return run.setInstanceState('STARTED');
    case 'END':
      return end(run, command);
    case 'RETRY':
      demandState(run, 'STARTED', command);
      return retry(run, command);
    case 'CHECK_JOINS':
      return demandState(run, 'STARTED', command);
    default:
      demandState(run, 'STARTED', command);
      return inBackground(run, command);
  }
}

function inBackground(run: StepRun, command: EngineCommand): void {
  if (isOfAction(command)) {
    return ofAction(run, command);
  }
  switch (command.kind) {
    case 'TIMER':
      return trigger(run, visitOf(run, command), command.node, null);
    case 'MESSAGE':
      return trigger(run, visitOf(run, command), command.node, command.payload);
    case 'CHILD_ENDED':
      return childEnded(run, visitOf(run, command), command.index, command.outcome);
    case 'CALL_FAILED':
      return callFailed(run, visitOf(run, command), command);
    case 'APPEND':
      command.values.forEach(({ path, value }) => setData(run, path, value));
      return run.event('DATA_APPENDED', null, { paths: command.values.map(({ path }) => path) });
    case 'CONTINUE':
      return proceed(run);
    default:
      throw new RangeError(`No command of the background: ${command.kind}.`);
  }
}

function isOfAction(command: EngineCommand): command is ActionCommand {
  return command.kind.startsWith('ACTION_');
}

function ofAction(run: StepRun, command: ActionCommand): void {
  switch (command.kind) {
    case 'ACTION_DUE':
      return actionDue(run, command);
    case 'ACTION_DONE':
      return actionDone(run, command);
    case 'ACTION_FAILED':
      return actionFailed(run, command);
    case 'ACTION_ERROR':
      return throwBpmnError(run, pendingAction(run, command).token, command.errorCode);
  }
}

/** @throws EngineRefusal STALE for the background when the instance has ended, else INSTANCE_NOT_STARTED */
function demandState(run: StepRun, state: InstanceState['state'], { kind }: EngineCommand): void {
  const is = run.instance.state;
  if (is === state) {
    return;
  }
  const ended = is !== 'STARTED' && is !== 'ONHOLD' && is !== 'CREATED';
  throw new EngineRefusal(
    ended && BACKGROUND.has(kind) ? 'STALE' : 'INSTANCE_NOT_STARTED',
    `The process instance is ${is}, not ${state}.`,
  );
}

function start(run: StepRun, { startNode, data }: Command<'START'>): void {
  const { instance } = run;
  if (instance.state !== 'CREATED') {
    throw new EngineRefusal('INSTANCE_STARTED', `The process instance is ${instance.state} already.`);
  }
  instance.data = data;
  run.dataChanged = true;
  run.setInstanceState('STARTED');
  const token = createToken(run, { node: startNode, parentId: null, scopeTokenId: null });
  run.queue.push({ tokenId: token.id, node: startNode });
}

function uiAction(run: StepRun, command: Command<'UI_ACTION'>): void {
  const place = run.definition.uiAction(command.uiActionSvcUuid);
  if (place === undefined) {
    throw new EngineRefusal('ACTION_UNKNOWN', 'The process has no such UI action.');
  }
  demandState(run, 'STARTED', command);
  executeUiAction(run, run.token(command.tokenId), place, command.body);
}

/** Where the token stands when all tokens have come to rest; it may have ended or been split. */
function tellWhereItStands(run: StepRun): void {
  if (run.action !== null) {
    const { tokenId, node } = run.action;
    run.action = { ...run.action, node: run.lastOf(tokenId)?.node ?? node };
  }
}

/** One that could not start is ended too: nothing else would ever close it. */
function end(run: StepRun, command: Command<'END'>): void {
  if (run.instance.state !== 'ONHOLD' && run.instance.state !== 'CREATED') {
    demandState(run, 'STARTED', command);
  }
  endInstance(run, command.state, null);
}

/** @throws EngineRefusal STALE when the token has ended or moved on */
function visitOf(run: StepRun, { tokenId, visit }: { tokenId: number; visit: number }): TokenState {
  const token = run.token(tokenId);
  if (token === undefined || token.visit !== visit || isUnderWay(run, tokenId)) {
    throw new EngineRefusal('STALE', `Token ${tokenId} is not on visit ${visit} any more.`);
  }
  return token;
}

function isUnderWay(run: StepRun, id: number): boolean {
  return run.instance.pending.some(({ tokenId }) => tokenId === id);
}

/** @throws EngineRefusal STALE when the action of this visit is not going on */
function pendingAction(
  run: StepRun,
  command: { tokenId: number; visit: number; actionSvcUuid: string },
): { token: TokenState; place: ActionPlace } {
  const token = visitOf(run, command);
  const place = run.definition.action(command.actionSvcUuid);
  if (place?.node.index !== token.node || token.actions[command.actionSvcUuid]?.state !== 'PENDING') {
    throw new EngineRefusal('STALE', `Action ${command.actionSvcUuid} of token ${token.id} is not going on.`);
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
    throw new EngineRefusal('STALE', 'No token of the instance is under way.');
  }
  if (run.command.kind === 'CONTINUE') {
    demandEnd(run);
  } else {
    run.instance.continues = 0;
  }
  run.instance.pending = [];
  run.queue.push(...pending);
}

/** @throws EngineIncident when tokens have gone on for too long without coming to rest; a retry lets them go on again */
function demandEnd({ instance, context, definition }: StepRun): void {
  const [first] = instance.pending;
  if (first !== undefined && instance.continues >= context.limits.continues) {
    const node = definition.flow(first.flow).source;
    const message = `The process went on for ${instance.continues} steps without a wait: a loop may have no end.`;
    throw new EngineIncident('NODE', 'ENGINE', message, { node, tokenId: first.tokenId });
  }
}

function retry(run: StepRun, command: Command<'RETRY'>): void {
  run.event('RETRY', run.token(command.tokenId) ?? null, { actionSvcUuid: command.actionSvcUuid });
  const done = command.actionSvcUuid === null ? retryNode(run, command) : retryAction(run, command);
  if (!done) {
    throw new EngineRefusal('NOTHING_TO_RETRY', 'Nothing of this token has stopped.');
  }
}

function retryNode(run: StepRun, { tokenId, visit, call }: Command<'RETRY'>): boolean {
  const token = run.token(tokenId);
  if (call === undefined && isUnderWay(run, tokenId)) {
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
    // Nobody waits for the process that it starts: the token may have gone on or ended.
    startSubprocess(run, { id: command.tokenId, visit: command.visit, node: place.node.index }, place.action);
    return true;
  }
  if (token?.visit !== command.visit || place?.node.index !== token.node) {
    return false;
  }
  if (token.actions[place.action.svcUuid]?.state !== 'PENDING') {
    return false;
  }
  perform(run, token.id, place.action);
  continueActivity(run, token.id);
  return true;
}
