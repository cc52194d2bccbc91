import type { JsonObject } from '../../../../common/json.js';
import { isDone, isOpen, perform, storeBody } from '../nodes/actions.js';
import { continueActivity } from '../nodes/activities.js';
import { goBack } from './back.js';
import { EngineRefusal } from '../state/engine.errors.js';
import type { TokenState } from '../state/engine.types.js';
import { recordReturnPoint, returnPointFor, type InstanceView } from './return-points.js';
import type { UiActionPlace } from '../state/runtime-definition.js';
import type { StepRun } from '../state/step-run.js';
import { isWithUser } from './open-actions.js';

/**
 * Executes a UI action (docs/contract.md, section 4.2). The body has been validated against its schema.
 * @throws EngineRefusal TOKEN_NOT_ACTIVE, ACTION_ALREADY_DONE, ACTION_NOT_AVAILABLE, NOTHING_TO_GO_BACK or BACK_NOT_ASKED
 */
export function executeUiAction(
  run: StepRun,
  token: TokenState | undefined,
  place: UiActionPlace,
  { body, goesBack = false }: { body: JsonObject; goesBack?: boolean },
): void {
  if (token === undefined || token.state !== 'ACTIVE') {
    throw new EngineRefusal('TOKEN_NOT_ACTIVE', 'The token is not active.');
  }
  if (!isHere(run, token, place)) {
    executeBehind(run, token, place, { body, goesBack });
  } else if (goesBack) {
    throw new EngineRefusal('NOTHING_TO_GO_BACK', 'The token stands at the node of the action.');
  } else {
    executeHere(run, token, place, body);
  }
}

function executeBehind(
  run: StepRun,
  token: TokenState,
  place: UiActionPlace,
  { body, goesBack }: { body: JsonObject; goesBack: boolean },
): void {
  const point = returnPointFor(run, token, place);
  if (point === undefined) {
    throw new EngineRefusal('ACTION_NOT_AVAILABLE', 'The action is not available where the token stands.');
  }
  if (place.action.back?.explicit === true && !goesBack) {
    throw new EngineRefusal('BACK_NOT_ASKED', 'The action goes back only for a caller that says so.');
  }
  goBack(run, point, place, body);
}

/** The effect that executing an action on a token would have now; null when it would be refused. */
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
  return token.node === node.index && isWithUser(view, token);
}

function executeHere(run: StepRun, token: TokenState, place: UiActionPlace, body: JsonObject): void {
  const { node, action, uiAction } = place;
  if (isDone(token.actions, action) && !action.repeatable) {
    throw new EngineRefusal('ACTION_ALREADY_DONE', 'The action has been executed and is not repeatable.');
  }
  if (!isOpen(node, token.actions, action)) {
    throw new EngineRefusal('ACTION_NOT_AVAILABLE', 'The action is not available yet, or still going on.');
  }
  recordReturnPoint(run, token, action);
  storeBody(run, action, uiAction, body);
  perform(run, token.id, action);
  continueActivity(run, token.id);
  run.action = { tokenId: token.id, node: token.node, back: false };
}
