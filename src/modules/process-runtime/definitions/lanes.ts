import { mayFor } from '../../../common/user/grant.js';
import type { Principal } from '../../../common/user/principal.js';
import type { GraphNode } from '../../process-definitions/model/process-graph.types.js';
import { LanePermissionError } from '../model/process-runtime.errors.js';
import type { RunnableDefinition } from './runnable-definition.js';

/** Whether the lane of a node names permissions. */
export function asksForPermission(definition: RunnableDefinition, node: Pick<GraphNode, 'lane'>): boolean {
  return (definition.laneOf(node)?.execute ?? []).length > 0;
}

/**
 * Whether a caller has one of the permissions that the lane of a node names, for the application of the process
 * (docs/process-semantics.md, section 12).
 */
export function mayAct(
  definition: RunnableDefinition,
  node: Pick<GraphNode, 'lane'>,
  principal: Principal,
): boolean {
  const execute = definition.laneOf(node)?.execute ?? [];
  return (
    execute.length === 0 ||
    execute.some((permission) => mayFor(principal, permission, definition.build.appId))
  );
}

/**
 * Demands that a caller may act on a node.
 * @throws LanePermissionError
 */
export function demandLane(
  definition: RunnableDefinition,
  node: Pick<GraphNode, 'lane'>,
  principal: Principal,
): void {
  if (!mayAct(definition, node, principal)) {
    throw new LanePermissionError();
  }
}
