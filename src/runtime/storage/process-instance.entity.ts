import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { UserReference } from '../../platform/user/user-reference.js';
import { safeInteger, storedJson } from '../../store/tables/column-values.js';
import type { InstanceStatus, InstanceWork } from '#engine/tokens';
import type { JsonObject } from '#engine/json';

/** Process instance (docs/process-semantics.md, section 3). `content` holds data, joins and return points as JSON. */
@Entity('process_instances')
@Index('uq_process_instances_uuid', ['uuid'], { unique: true })
@Index('uq_process_instances_parent_key', ['parentKey'], { unique: true })
@Index('ix_process_instances_parent', ['parentId', 'id'])
@Index('ix_process_instances_state', ['state', 'uuid'])
@Index('ix_process_instances_app_state', ['appId', 'state', 'uuid'])
@Index('ix_process_instances_app_name_state', ['appId', 'processName', 'state', 'uuid'])
@Index('ix_process_instances_name_state', ['processName', 'state', 'uuid'])
@Index('ix_process_instances_starter_state', ['starter', 'state', 'uuid'])
@Index('ix_process_instances_definition', ['definitionId', 'uuid'])
export class ProcessInstanceEntity {
  @PrimaryColumn({ type: 'bigint', transformer: safeInteger }) id: number;
  @Column({ type: 'varchar', length: 36 }) uuid: string;
  @Column({ type: 'int' }) shard: number;
  @Column({ type: 'varchar', name: 'app_id', length: 64 }) appId: string;
  /** Application of the first caller in the call chain, within which messages are delivered. */
  @Column({ type: 'varchar', name: 'root_app_id', length: 64 }) rootAppId: string;
  @Column({ type: 'varchar', name: 'build_id', length: 64 }) buildId: string;
  @Column({ type: 'varchar', name: 'build_status', length: 16 }) buildStatus: string;
  @Column({ type: 'bigint', name: 'definition_id', transformer: safeInteger }) definitionId: number;
  @Column({ type: 'varchar', name: 'definition_svc_uuid', length: 64 }) definitionSvcUuid: string;
  @Column({ type: 'varchar', name: 'process_name', length: 255 }) processName: string;
  @Column({ type: 'varchar', length: 32, nullable: true }) platform: string | null;
  /** Hash of issuer and subject of the caller who started the call chain; null if no caller did. */
  @Column({ type: 'varchar', length: 64, nullable: true }) starter: string | null;
  @Column({ type: 'simple-json', name: 'started_by', nullable: true }) startedBy: UserReference | null;
  /** Origin of a called process: instance, token, visit and index of the call. Null, except `parentWaits`, if it was not called. */
  @Column({ type: 'varchar', name: 'parent_app_id', length: 64, nullable: true }) parentAppId: string | null;
  @Column({ type: 'bigint', name: 'parent_id', transformer: safeInteger, nullable: true }) parentId:
    number | null;
  @Column({ type: 'varchar', name: 'parent_uuid', length: 36, nullable: true }) parentUuid: string | null;
  /** First instance of the call chain; null for that instance itself. */
  @Column({ type: 'bigint', name: 'root_id', transformer: safeInteger, nullable: true }) rootId:
    number | null;
  @Column({ type: 'bigint', name: 'parent_token_id', transformer: safeInteger, nullable: true })
  parentTokenId: number | null;
  @Column({ type: 'int', name: 'parent_visit', nullable: true }) parentVisit: number | null;
  @Column({ type: 'int', name: 'parent_index', nullable: true }) parentIndex: number | null;
  /** Number of the parent's last event when it requested the call. */
  @Column({ type: 'int', name: 'parent_seq', nullable: true }) parentSeq: number | null;
  /** Whether a token of the parent waits for the end. */
  @Column({ type: 'boolean', name: 'parent_waits' }) parentWaits: boolean;
  /** Unique key of a child that a call activity waits for; null for others. */
  @Column({ type: 'varchar', name: 'parent_key', length: 64, nullable: true }) parentKey: string | null;
  @Column({ type: 'int' }) depth: number;
  @Column({ type: 'varchar', length: 16 }) state: InstanceStatus;
  @Column({ type: 'int' }) rev: number;
  @Column({ type: 'int' }) seq: number;
  @Column({ type: 'int', name: 'open_incidents' }) openIncidents: number;
  @Column({ type: 'json', transformer: storedJson }) content: InstanceContent;
  @Column({ type: 'datetime', name: 'started_at', precision: 3 }) startedAt: Date;
  @Column({ type: 'datetime', name: 'modified_at', precision: 3 }) modifiedAt: Date;
  @Column({ type: 'datetime', name: 'ended_at', precision: 3, nullable: true }) endedAt: Date | null;
  @Column({ type: 'datetime', name: 'expires_at', precision: 3, nullable: true }) expiresAt: Date | null;
}

/** Background job held back until its instance is released or its incident is retried. */
export interface ParkedJob {
  kind: string;
  /** Owner of the job, which may be another instance: a called process has jobs for its caller. */
  instanceId: number | null;
  tokenId: number | null;
  payload: JsonObject;
}

/** Correction of process data by a person. */
export interface DataCorrection {
  members: string[];
  /** User name of that person. */
  by: string;
  /** ISO 8601. */
  at: string;
}

/** Part of an instance stored as JSON. */
export interface InstanceContent extends InstanceWork {
  parked: ParkedJob[];
  /** Last corrections, oldest first; absent without any. */
  corrections?: DataCorrection[];
}

export type InstanceRow = Omit<ProcessInstanceEntity, 'parentKey'>;

export type InstanceHead = Omit<InstanceRow, 'content'>;

/** Values of the parent columns for an instance that was not called. */
export const NO_PARENT = {
  parentAppId: null,
  parentId: null,
  parentUuid: null,
  rootId: null,
  parentTokenId: null,
  parentVisit: null,
  parentIndex: null,
  parentSeq: null,
  parentWaits: false,
} as const satisfies Partial<InstanceRow>;

type ParentColumns = Pick<InstanceRow, keyof typeof NO_PARENT>;

/** Parent columns of a called process, all of them set. */
export type ParentLink = { [Column in keyof ParentColumns]: NonNullable<ParentColumns[Column]> };

/** Whether an instance was called by another one. */
export function isCalled<Row extends ParentColumns>(row: Row): row is Row & ParentLink {
  return row.parentId !== null;
}

/** Returns the unique key of a child that a call activity waits for; null for others. */
export function parentKey({
  parentWaits,
  parentTokenId,
  parentVisit,
  parentIndex,
  parentSeq,
}: ParentColumns): string | null {
  return parentWaits ? `${parentTokenId}:${parentVisit}:${parentIndex}:${parentSeq}` : null;
}

/** Number of live called instances in a process family. Only families with calls have a row. */
@Entity('process_families')
export class ProcessFamilyEntity {
  @PrimaryColumn({ type: 'bigint', name: 'root_id', transformer: safeInteger }) rootId: number;
  @Column({ type: 'int' }) shard: number;
  /** Called instances that have not ended, without the root. */
  @Column({ type: 'int' }) instances: number;
}
