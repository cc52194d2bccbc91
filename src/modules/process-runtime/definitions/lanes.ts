import { mayFor } from '../../../common/user/grant.js';
import type { Principal } from '../../../common/user/principal.js';
import type { GraphLane, GraphNode } from '../../process-definitions/model/process-graph.types.js';
import type { RunnableDefinition } from './runnable-definition.js';

/** A definition as far as lanes are asked, ready to run or not. */
export type DefinitionWithLanes = Pick<RunnableDefinition, 'build'>;

type Placed = Pick<GraphNode, 'lane'>;

/** The lane that a node stands in; undefined outside of lanes. */
export function laneOf({ build }: DefinitionWithLanes, { lane }: Placed): GraphLane | undefined {
  return lane === null ? undefined : build.graph.lanes[lane];
}

/** Whether the lane of a node names permissions. */
export function asksForPermission(definition: DefinitionWithLanes, node: Placed): boolean {
  return (laneOf(definition, node)?.execute ?? []).length > 0;
}

/**
 * Whether a caller has one of the permissions that the lane of a node names, for the application of the process
 * (docs/process-semantics.md, section 12).
 */
export function mayAct(definition: DefinitionWithLanes, node: Placed, principal: Principal): boolean {
  const execute = laneOf(definition, node)?.execute ?? [];
  return (
    execute.length === 0 ||
    execute.some((permission) => mayFor(principal, permission, definition.build.appId))
  );
}
