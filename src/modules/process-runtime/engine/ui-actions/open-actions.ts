import { isOpen } from '../nodes/actions.js';
import type { InstanceState, TokenState } from '../state/engine.types.js';
import { returnPointFor, type InstanceView } from './return-points.js';
import type { RuntimeDefinition, UiActionPlace } from '../state/runtime-definition.js';
import { isParked } from '../state/tokens.js';

/** A UI action that can be executed now. */
export interface OpenUiAction {
  readonly svcUuid: string;
  readonly name: string;
  /** Whether it takes the token back to an earlier node. */
  readonly back: boolean;
}

/** Whether a token rests at its node, where its actions are; not at a join, and not on its way out. */
export function isWithUser({ instance }: Pick<InstanceView, 'instance'>, token: TokenState): boolean {
  return (
    token.state === 'ACTIVE' &&
    !instance.pending.some(({ tokenId }) => tokenId === token.id) &&
    !isParked({ instance }, token.id)
  );
}

/** The UI actions that can be executed on a token now: of its node first, then the ones that lead back, the latest first. */
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
  if (!isWithUser(view, token)) {
    return [];
  }
  return placesAt(view.definition, token.node)
    .filter(({ node, action }) => isOpen(node, token.actions, action))
    .map(({ uiAction }) => ({ svcUuid: uiAction.svcUuid, name: uiAction.name, back: false }));
}

function openBack(view: InstanceView, token: TokenState): OpenUiAction[] {
  const passed = new Set(
    view.instance.returnPoints
      .toReversed()
      .map(({ node }) => node)
      .filter((node) => node !== token.node || !isWithUser(view, token)),
  );
  return [...passed]
    .flatMap((node) => placesAt(view.definition, node))
    .filter((place) => returnPointFor(view, token, place) !== undefined)
    .map(({ uiAction }) => ({ svcUuid: uiAction.svcUuid, name: uiAction.name, back: true }));
}

function placesAt(definition: RuntimeDefinition, index: number): UiActionPlace[] {
  const node = definition.node(index);
  return node.uiActions.flatMap((uiAction) => {
    const action = node.actionByName.get(uiAction.action);
    return action === undefined ? [] : [{ node, action, uiAction }];
  });
}
