import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { UserReference } from '../../platform/user/user-reference.js';
import type { AuditAction, AuditOutcome } from '../model/audit.types.js';

/** Audit event: who did what, when, and the outcome. Rows are never changed or removed. */
@Entity('audit_events')
@Index('ix_audit_events_version', ['appId', 'appVersionId', 'id'])
@Index('ix_audit_events_system', ['appId', 'appVersionId', 'systemResourceId', 'id'])
@Index('ix_audit_events_system_app', ['appId', 'systemResourceId', 'id'])
@Index('ix_audit_events_app', ['appId', 'id'])
@Index('ix_audit_events_action', ['appId', 'action', 'id'])
@Index('ix_audit_events_outcome', ['appId', 'outcome', 'id'])
@Index('ix_audit_events_actor', ['appId', 'actorSubject', 'id'])
export class AuditEventEntity {
  /** UUID version 7 of `occurredAt`, so that ids sort by time. */
  @PrimaryColumn({ type: 'varchar', length: 36 }) id: string;
  @Column({ type: 'datetime', name: 'occurred_at', precision: 3 }) occurredAt: Date;
  @Column({ type: 'varchar', length: 32 }) action: AuditAction;
  @Column({ type: 'varchar', length: 16 }) outcome: AuditOutcome;
  @Column({ type: 'varchar', name: 'app_id', length: 64 }) appId: string;
  @Column({ type: 'varchar', name: 'app_version_id', length: 64 }) appVersionId: string;
  @Column({ type: 'varchar', name: 'system_resource_id', length: 64, nullable: true }) systemResourceId:
    string | null;
  @Column({ type: 'varchar', name: 'tool_id', length: 64, nullable: true }) toolId: string | null;
  @Column({ type: 'varchar', name: 'actor_issuer', length: 255 }) actorIssuer: string;
  @Column({ type: 'varchar', name: 'actor_subject', length: 255 }) actorSubject: string;
  @Column({ type: 'simple-json' }) actor: UserReference;
  @Column({ type: 'varchar', name: 'request_id', length: 64 }) requestId: string;
  /** `X-Request-Id` as the caller sent it. */
  @Column({ type: 'varchar', name: 'caller_request_id', length: 64, nullable: true }) callerRequestId:
    string | null;
  @Column({ type: 'json', nullable: true }) details: Record<string, unknown> | null;
}
