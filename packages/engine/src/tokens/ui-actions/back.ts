import { jsonSize, type JsonValue, type JsonObject } from '../../json/json.js';
import { getPath } from '../../paths/data-paths.js';
import type { GraphAction } from '../../definitions/model/process-graph.types.js';
import type { ReturnPoint, TokenState, ActionState } from '../state/engine.types.js';
import type { ActionPlace, UiActionPlace } from '../state/runtime-definition.js';
import type { StepRun } from '../state/step-run.js';
import { descendantsOf, lineageOf, createToken, isParked, splitParentOf } from '../state/tokens.js';
import { runAutomaticActions, storeBody } from '../nodes/actions.js';
import { rest } from '../nodes/activities.js';
import { restoreData } from '../state/process-data.js';
import { discard, endChildren } from '../flow/scopes.js';
import { enter } from '../flow/token-flow.js';

/** Data needed to determine where a token can go back to. */
export type InstanceView = Pick<StepRun, 'definition' | 'instance'>;

/**
 * Saves the state needed for going back, before the first execution of a manual action with `allowBack` in a visit. Number and size of
 * return points are limited; the oldest are dropped first.
 */
export function recordReturnPoint(run: StepRun, token: TokenState, action: GraphAction): void {
  const { instance } = run;
  const isSame = (point: ReturnPoint) =>
    point.tokenId === token.id && point.actionSvcUuid === action.svcUuid && point.node === token.node;
  if (
    action.back === null ||
    instance.returnPoints.some((point) => isSame(point) && point.visit === token.visit)
  ) {
    return;
  }
  const earlier = instance.returnPoints.find(isSame);
  const valuesBefore = valuesOf(run, action.back.restoreKeys);
  const point: ReturnPoint = {
    node: token.node,
    actionSvcUuid: action.svcUuid,
    tokenId: token.id,
    visit: token.visit,
    formerTokens: earlier?.formerTokens ?? [],
    seq: instance.seq,
    actionsBefore: token.actions,
    valuesBefore,
    bytes: jsonSize(valuesBefore),
  };
  instance.returnPoints = withinLimits(run, [
    ...instance.returnPoints.filter((other) => !isSame(other)),
    point,
  ]);
}

function valuesOf(run: StepRun, paths: readonly string[]): Record<string, JsonValue> {
  const values = paths.map((path) => [path, getPath(run.instance.data, path) as JsonValue] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

function withinLimits(run: StepRun, points: ReturnPoint[]): ReturnPoint[] {
  const { returnPoints, dataBytes } = run.context.limits;
  let bytes = points.reduce((sum, point) => sum + point.bytes, 0);
  let from = Math.max(0, points.length - returnPoints);
  points.slice(0, from).forEach((point) => (bytes -= point.bytes));
  for (; bytes > dataBytes && from < points.length; from += 1) {
    bytes -= points[from]?.bytes ?? 0;
  }
  if (from > 0) {
    run.warn(`The instance exceeded the limit of return points; the oldest ${from} were dropped.`);
  }
  return points.slice(from);
}

/**
 * Finds the return point to which an action would take a token back (docs/process-semantics.md, section 8). The token itself or an
 * ancestor has executed the action, and no token that would be aborted has passed a node that forbids going back.
 */
export function returnPointFor(
  view: InstanceView,
  token: TokenState,
  place: ActionPlace,
): ReturnPoint | undefined {
  const { node, action } = place;
  if (action.back === null || !node.canGoBack || view.instance.returnPoints.length === 0) {
    return undefined;
  }
  const line = lineageOf(view, token);
  const point = view.instance.returnPoints.findLast(
    ({ actionSvcUuid, tokenId }) => actionSvcUuid === action.svcUuid && line.has(tokenId),
  );
  const owner = point === undefined ? undefined : view.instance.tokens.get(point.tokenId);
  if (owner === undefined) {
    return undefined;
  }
  const leaves = [owner, ...descendantsOf(view, owner.id)].filter(({ state }) => state !== 'ON_HOLD');
  const { reachability } = view.definition;
  return leaves.every((leaf) => reachability.canReturnTo(node.index, leaf.node)) ? point : undefined;
}

/** Maximum number of former tokens kept in a return point. */
const FORMER_TOKENS = 50;

/**
 * Takes a token back to an action that it or an ancestor has executed (docs/process-semantics.md, section 8). The executing token and
 * its descendants are aborted, and a new token is put on the node of the action. The action itself does not run.
 */
export function goBack(run: StepRun, point: ReturnPoint, place: UiActionPlace, body: JsonObject): void {
  const { instance } = run;
  const owner = run.edit(point.tokenId);
  const kept = instance.returnPoints.filter(({ tokenId, seq }) => tokenId === owner.id && seq < point.seq);
  abort(run, owner, point);
  const { parentId, scopeTokenId } = owner;
  const token = createToken(run, { node: point.node, parentId, scopeTokenId });
  // Visit numbers continue, so that kept return points differ from new ones.
  token.visit = owner.visit + 1;
  enter(run, token.id, point.node);
  token.actions = finishedActions(point.actionsBefore);
  const formerTokens = [...point.formerTokens, owner.id].slice(-FORMER_TOKENS);
  const handedDown = kept.map((other) => ({ ...other, tokenId: token.id, formerTokens }));
  instance.returnPoints = [...instance.returnPoints, ...handedDown].toSorted(
    (one, other) => one.seq - other.seq,
  );
  instance.backCounter += 1;
  run.event('BACK', token, { fromToken: owner.id, fromNode: owner.node, actionSvcUuid: point.actionSvcUuid });
  const { removeKeys = [], restoreKeys = [] } = place.action.back ?? {};
  removeKeys.forEach((path) => restoreData(run, path, undefined));
  restoreKeys.forEach((path) => restoreData(run, path, point.valuesBefore[path]));
  storeBody(run, place.action, place.uiAction, body);
  runAutomaticActions(run, token.id);
  rest(run, token.id);
  run.action = { tokenId: token.id, node: token.node, back: true };
}

function abort(run: StepRun, owner: TokenState, point: ReturnPoint): void {
  const siblings = startedByBoundaryEvents(run, owner, point);
  siblings.forEach((token) => removeFromSplit(run, token));
  const roots = [owner, ...siblings];
  const aborted = roots.flatMap((token) => [...descendantsOf(run, token.id), token]);
  aborted.forEach((token) => discard(run, token, 'ABORTED', 'ABORTED'));
  if (run.definition.startsProcesses) {
    const ids = [...roots.map(({ id }) => id), ...point.formerTokens];
    ids.forEach((tokenId) => endChildren(run, 'ABORTED', { tokenId, sinceSeq: point.seq + 1 }));
  }
}

/** Returns tokens started by non-interrupting boundary events since then; they are siblings of the token, not descendants. */
function startedByBoundaryEvents(run: StepRun, owner: TokenState, point: ReturnPoint): TokenState[] {
  const { reachability } = run.definition;
  return [...run.instance.tokens.values()].filter((token) => {
    const host = run.definition.node(token.startNode).attachedTo;
    return (
      host !== null &&
      token.id !== owner.id &&
      token.parentId === owner.parentId &&
      token.scopeTokenId === owner.scopeTokenId &&
      (host === point.node || reachability.canReturnTo(point.node, host))
    );
  });
}

/** Makes the held parent stop waiting for this token. */
function removeFromSplit(run: StepRun, token: TokenState): void {
  const parent = splitParentOf(run, token);
  if (parent !== undefined) {
    const edited = run.edit(parent.id);
    edited.syncCount -= 1;
    edited.syncFinished -= isParked(run, token.id) ? 1 : 0;
  }
}

/** Drops pending states: their background work was cancelled and starts again. */
function finishedActions(states: Readonly<Record<string, ActionState>>): Record<string, ActionState> {
  return Object.fromEntries(
    Object.entries(states)
      .filter(([, { runs }]) => runs > 0)
      .map(([svcUuid, state]) => [svcUuid, { ...state, state: 'COMPLETED' }]),
  );
}
