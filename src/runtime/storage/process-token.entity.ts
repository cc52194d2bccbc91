import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { safeInteger, storedJson } from '../../store/tables/column-values.js';
import type { NodeStatus, TokenState, TokenStatus } from '#engine/tokens';

/** Token of a process instance (docs/process-semantics.md, section 4). `live` tokens are active, on hold or parked at a join. */
@Entity('process_tokens')
@Index('ix_process_tokens_instance', ['instanceId', 'live'])
export class ProcessTokenEntity {
  @PrimaryColumn({ type: 'bigint', transformer: safeInteger }) id: number;
  @Column({ type: 'varchar', length: 36 }) uuid: string;
  @Column({ type: 'int' }) shard: number;
  @Column({ type: 'bigint', name: 'instance_id', transformer: safeInteger }) instanceId: number;
  @Column({ type: 'boolean' }) live: boolean;
  @Column({ type: 'bigint', name: 'parent_id', transformer: safeInteger, nullable: true }) parentId:
    number | null;
  @Column({ type: 'bigint', name: 'scope_token_id', transformer: safeInteger, nullable: true }) scopeTokenId:
    number | null;
  @Column({ type: 'int', name: 'start_node' }) startNode: number;
  @Column({ type: 'int' }) node: number;
  @Column({ type: 'varchar', length: 16 }) state: TokenStatus;
  @Column({ type: 'varchar', length: 32 }) status: NodeStatus;
  @Column({ type: 'int' }) visit: number;
  @Column({ type: 'int', name: 'sync_count' }) syncCount: number;
  @Column({ type: 'int', name: 'sync_finished' }) syncFinished: number;
  @Column({ type: 'int' }) rev: number;
  /** Whether the visit may have jobs or message waits, which end with it. */
  @Column({ type: 'boolean', name: 'has_jobs' }) hasJobs: boolean;
  @Column({ type: 'boolean', name: 'has_waits' }) hasWaits: boolean;
  @Column({ type: 'json', transformer: storedJson }) content: Pick<TokenState, 'actions' | 'call'>;
  @Column({ type: 'datetime', name: 'created_at', precision: 3 }) createdAt: Date;
  @Column({ type: 'datetime', name: 'modified_at', precision: 3 }) modifiedAt: Date;
}

/** Token state of the engine with the additional columns of its row. */
export interface TokenRow extends Pick<ProcessTokenEntity, 'hasJobs' | 'hasWaits' | 'modifiedAt'> {
  state: TokenState;
}

/** Columns that a step writes in addition to the token state. */
export type TokenFlags = Pick<ProcessTokenEntity, 'live' | 'hasJobs' | 'hasWaits'>;

/** Columns of a token as read from its row. */
export type StoredToken = Omit<TokenState, 'actions' | 'call'> &
  Omit<TokenRow, 'state'> &
  Pick<ProcessTokenEntity, 'content'>;

/** Converts a stored token for the engine. Avoids object spread, which takes longer than reading the row. */
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
