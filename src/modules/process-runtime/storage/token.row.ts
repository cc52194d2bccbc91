import type { TokenState } from '../engine/state/engine.types.js';
import type { ProcessTokenEntity } from './process-token.entity.js';

/** What a row holds beside the state that the engine knows. */
export interface TokenRow extends Pick<ProcessTokenEntity, 'hasJobs' | 'hasWaits' | 'modifiedAt'> {
  state: TokenState;
}

/** What a step writes of a token beside its state. */
export type TokenFlags = Pick<ProcessTokenEntity, 'live' | 'hasJobs' | 'hasWaits'>;

/** The columns of a token that are read together. */
export type StoredToken = Omit<TokenState, 'actions' | 'call'> &
  Omit<TokenRow, 'state'> &
  Pick<ProcessTokenEntity, 'content'>;

/** A token for the engine. Member by member: spreading takes longer than reading the row. */
export function toTokenRow(stored: StoredToken): TokenRow {
  const { id, uuid, parentId, scopeTokenId, startNode, node, state, status, visit, rev } = stored;
  const { syncCount, syncFinished, content, hasJobs, hasWaits, modifiedAt } = stored;
  const { actions, call } = content;
  return {
    state: {
      id,
      uuid,
      parentId,
      scopeTokenId,
      startNode,
      node,
      state,
      status,
      visit,
      syncCount,
      syncFinished,
      actions,
      call,
      rev,
    },
    hasJobs,
    hasWaits,
    modifiedAt,
  };
}
