import { isOpen, isDone, perform, storeBody } from '../nodes/actions.js';
import type { InstanceState, TokenState } from '../state/engine.types.js';
import { returnPointFor, type InstanceView, goBack, recordReturnPoint } from './back.js';
import { placesAt, type RuntimeDefinition, type UiActionPlace } from '../state/runtime-definition.js';
import { isParked } from '../state/tokens.js';
import type { JsonObject } from '../../json/json.js';
import { continueActivity } from '../nodes/activities.js';
import { EngineRefusal } from '../state/engine.errors.js';
import type { StepRun } from '../state/step-run.js';

/** A UI action that can be executed now. */
export interface OpenUiAction {
  readonly svcUuid: string;
  readonly name: string;
  /** Whether it takes the token back to an earlier node. */
  readonly back: boolean;
}

/** Whether a token rests at its node, so that actions can be executed: not at a join and not moving. */
export function isResting({ instance }: Pick<InstanceView, 'instance'>, token: TokenState): boolean {
  return (
    token.state === 'ACTIVE' &&
    !instance.pending.some(({ tokenId }) => tokenId === token.id) &&
    !isParked({ instance }, token.id)
  );
}

/** Lists the UI actions available for a token: those of its node first, then those that go back, latest first. */
export function openUiActions(
  definition: RuntimeDefinition,
  instance: InstanceState,
  token: TokenState,
): OpenUiAction[] {
  if (instance.state !== 'STARTED' || token.state !== 'ACTIVE') {
    return [];
  }
  const view = { definition, instance };
  return [...openHere(view, token), ...openBack(view, token)];
}

function openHere(view: InstanceView, token: TokenState): OpenUiAction[] {
  if (!isResting(view, token)) {
    return [];
  }
  return placesAt(view.definition.node(token.node))
    .filter(({ node, action }) => isOpen(node, token.actions, action))
    .map(({ uiAction }) => ({ svcUuid: uiAction.svcUuid, name: uiAction.name, back: false }));
}

function openBack(view: InstanceView, token: TokenState): OpenUiAction[] {
  const passed = new Set(
    view.instance.returnPoints
      .toReversed()
      .map(({ node }) => node)
      .filter((node) => node !== token.node || !isResting(view, token)),
  );
  return [...passed]
    .flatMap((node) => placesAt(view.definition.node(node)))
    .filter((place) => returnPointFor(view, token, place) !== undefined)
    .map(({ uiAction }) => ({ svcUuid: uiAction.svcUuid, name: uiAction.name, back: true }));
}

/**
 * Executes a UI action (docs/contract.md, section 4.2). The body must already be validated.
 * @throws EngineRefusal TOKEN_NOT_ACTIVE, ACTION_ALREADY_DONE, ACTION_NOT_AVAILABLE, NOTHING_TO_GO_BACK or BACK_NOT_ASKED
 */
export function executeUiAction(
  run: StepRun,
  token: TokenState | undefined,
  place: UiActionPlace,
  { body, goesBack = false }: { body: JsonObject; goesBack?: boolean },
): void {
  if (token === undefined || token.state !== 'ACTIVE') {
    throw new EngineRefusal('TOKEN_NOT_ACTIVE');
  }
  if (isHere(run, token, place)) {
    if (goesBack) {
      throw new EngineRefusal('NOTHING_TO_GO_BACK');
    }
    executeHere(run, token, place, body);
    return;
  }
  const point = returnPointFor(run, token, place);
  if (point === undefined) {
    throw new EngineRefusal('ACTION_NOT_AVAILABLE');
  }
  if (place.action.back?.explicit === true && !goesBack) {
    throw new EngineRefusal('BACK_NOT_ASKED');
  }
  goBack(run, point, place, body);
}

/** Returns the effect of executing an action on a token now; null if it would be refused. */
export function effectOf(
  view: InstanceView,
  token: TokenState,
  place: UiActionPlace,
): 'EXECUTE' | 'BACK' | null {
  if (view.instance.state !== 'STARTED' || token.state !== 'ACTIVE') {
    return null;
  }
  if (isHere(view, token, place)) {
    return isOpen(place.node, token.actions, place.action) ? 'EXECUTE' : null;
  }
  return returnPointFor(view, token, place) === undefined ? null : 'BACK';
}

function isHere(view: InstanceView, token: TokenState, { node }: UiActionPlace): boolean {
  return token.node === node.index && isResting(view, token);
}

function executeHere(run: StepRun, token: TokenState, place: UiActionPlace, body: JsonObject): void {
  const { node, action, uiAction } = place;
  if (isDone(token.actions, action) && !action.repeatable) {
    throw new EngineRefusal('ACTION_ALREADY_DONE');
  }
  if (!isOpen(node, token.actions, action)) {
    throw new EngineRefusal('ACTION_NOT_AVAILABLE');
  }
  recordReturnPoint(run, token, action);
  storeBody(run, action, uiAction, body);
  perform(run, token.id, action);
  continueActivity(run, token.id);
  run.action = { tokenId: token.id, node: token.node, back: false };
}
