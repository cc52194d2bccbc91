import type { TokenState } from '../engine/state/engine.types.js';
import type { RunnableDefinition } from '../definitions/runnable-definition.js';
import type { TokenDto } from '../model/token.dto.js';

/** A token as callers see it: nodes by the numbers that later builds keep. */
export function toTokenView(definition: RunnableDefinition, token: TokenState, updated: Date): TokenDto {
  const node = definition.nodeAt(token.node);
  return {
    id: token.id,
    uuid: token.uuid,
    state: token.state,
    statusCurrentNode: token.status,
    visit: token.visit,
    startNodeId: definition.nodeAt(token.startNode)?.id ?? null,
    currentNodeId: node?.id ?? 0,
    currentNodeName: node?.name ?? null,
    dateUpdated: updated.toISOString(),
  };
}
