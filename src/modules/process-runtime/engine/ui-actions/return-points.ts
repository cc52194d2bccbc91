import { jsonSize, type JsonValue } from '../../../../common/json.js';
import { getPath } from '../../../../language/paths/data-paths.js';
import type { GraphAction } from '../../../process-definitions/model/process-graph.types.js';
import type { ReturnPoint, TokenState } from '../state/engine.types.js';
import type { ActionPlace } from '../state/runtime-definition.js';
import type { StepRun } from '../state/step-run.js';
import { descendantsOf, lineOf } from '../state/tokens.js';

/** What is needed to see where a token can go back to. */
export type InstanceView = Pick<StepRun, 'definition' | 'instance'>;

/**
 * Keeps the state that going back needs, before a manual action with `allowBack` is executed for the first time in a visit.
 * Number and size of return points are bounded: the oldest go first.
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
  instance.returnPoints = bounded(run, [...instance.returnPoints.filter((other) => !isSame(other)), point]);
}

function valuesOf(run: StepRun, paths: readonly string[]): Record<string, JsonValue> {
  const values: Record<string, JsonValue> = {};
  for (const path of paths) {
    const value = getPath(run.instance.data, path);
    if (value !== undefined) {
      values[path] = value as JsonValue;
    }
  }
  return values;
}

function bounded(run: StepRun, points: ReturnPoint[]): ReturnPoint[] {
  const { returnPoints, dataBytes } = run.context.limits;
  let bytes = points.reduce((sum, point) => sum + point.bytes, 0);
  let from = Math.max(0, points.length - returnPoints);
  points.slice(0, from).forEach((point) => (bytes -= point.bytes));
  for (; bytes > dataBytes && from < points.length; from += 1) {
    bytes -= points[from]?.bytes ?? 0;
  }
  if (from > 0) {
    run.warn(`The instance has too many or too large return points; ${from} of the oldest were dropped.`);
  }
  return points.slice(from);
}

/**
 * The return point that executing an action would lead a token back to (docs/process-semantics.md, section 8). The token
 * itself, or one above it in the tree, has executed it. No token that would be given up has passed a node that forbids going
 * back.
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
  const line = lineOf(view, token);
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
