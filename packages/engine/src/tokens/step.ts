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
import { checkDataSize, checkJobsSize, faultOfData, patchData, setData } from './state/process-data.js';
import type { ActionPlace, RuntimeDefinition } from './state/runtime-definition.js';
import { endInstance, throwBpmnError, throwError } from './flow/scopes.js';
import { StepRun } from './state/step-run.js';
import { markStuckJoins } from './flow/stuck-joins.js';
import { createToken } from './state/tokens.js';
import { executeUiAction } from './ui-actions/ui-actions.js';

type Kind = EngineCommand['kind'];
type Command<K extends Kind> = Extract<EngineCommand, { kind: K }>;

/** What a command does, and when it may. */
interface Rule<K extends Kind> {
  /** State that the instance must be in; null where the command itself looks. */
  from: InstanceState['state'] | null;
  /** Whether nobody waits for it: one that comes too late is dropped. */
  isBackground: boolean;
  carryOut: (run: StepRun, command: Command<K>) => void;
}

const asked = <K extends Kind>(from: Rule<K>['from'], carryOut: Rule<K>['carryOut']): Rule<K> => ({
  from,
  isBackground: false,
  carryOut,
});
const background = <K extends Kind>(carryOut: Rule<K>['carryOut']): Rule<K> => ({
  from: 'STARTED',
  isBackground: true,
  carryOut,
});

/** Every command has its rule: one without does not compile. */
const RULES: { readonly [K in Kind]: Rule<K> } = {
  START: asked(null, start),
  UI_ACTION: asked(null, uiAction),
  HOLD: asked('STARTED', (run) => run.setInstanceState('ONHOLD')),
  RELEASE: asked('ONHOLD', (run) => run.setInstanceState('STARTED')),
  END: asked(null, end),
  RETRY: asked('STARTED', retry),
  CHANGE_DATA: asked('STARTED', (run, { patch }) => patchData(run, patch)),
  // Every step ends with a look at the joins.
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
 * Carries out one command: from a state at rest to the next one (BPMN 2.0.2, clause 13; docs/process-semantics.md). It reads no
 * clock, makes no random number and does not change the given state. Its cost does not grow with the definition.
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
    carryOut(run, command.kind, command);
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

function carryOut<K extends Kind>(run: StepRun, kind: K, command: Command<K>): void {
  const rule = RULES[kind];
  if (rule.from !== null) {
    demandState(run, rule.from, kind);
  }
  rule.carryOut(run, command);
}

function append(run: StepRun, { values }: Command<'APPEND'>): void {
  values.forEach(({ path, value }) => setData(run, path, value));
  run.event('DATA_APPENDED', null, { paths: values.map(({ path }) => path) });
}

/** @throws EngineRefusal STALE for the background when the instance has ended, else INSTANCE_NOT_STARTED */
function demandState(run: StepRun, state: InstanceState['state'], kind: Kind): void {
  const is = run.instance.state;
  if (is === state) {
    return;
  }
  const ended = is !== 'STARTED' && is !== 'ONHOLD' && is !== 'CREATED';
  throw new EngineRefusal(
    ended && RULES[kind].isBackground ? 'STALE' : 'INSTANCE_NOT_STARTED',
    `The process instance is ${is}, not ${state}.`,
  );
}

function start(run: StepRun, { startNode, data, patch }: Command<'START'>): void {
  const { instance } = run;
  if (instance.state !== 'CREATED') {
    throw new EngineRefusal('INSTANCE_STARTED', `The process instance is ${instance.state} already.`);
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
    throw new EngineRefusal('ACTION_UNKNOWN', 'The process has no such UI action.');
  }
  demandState(run, 'STARTED', command.kind);
  executeUiAction(run, run.token(command.tokenId), place, command);
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
    demandState(run, 'STARTED', command.kind);
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
  if (command.patch !== undefined) {
    patchData(run, command.patch);
  }
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
  const isThere = token?.visit === command.visit && place?.node.index === token.node;
  if (!isThere || token.actions[place.action.svcUuid]?.state !== 'PENDING') {
    return false;
  }
  perform(run, token.id, place.action);
  continueActivity(run, token.id);
  return true;
}
