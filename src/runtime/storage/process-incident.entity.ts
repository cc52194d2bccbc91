import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { safeInteger, storedJson } from '../../store/tables/column-values.js';
import type { IncidentSource, IncidentType } from '#engine/tokens';
import type { IncidentState } from '../model/process-runtime.types.js';
import type { ParkedJob } from './process-instance.entity.js';
import type { JsonObject } from '#engine/json';

/** Incident of a process (docs/process-semantics.md, section 11). */
@Entity('process_incidents')
@Index('ix_process_incidents_open', ['instanceId', 'state', 'tokenId'])
@Index('ix_process_incidents_state', ['state', 'uuid'])
@Index('ix_process_incidents_app_state', ['appId', 'state', 'uuid'])
@Index('ix_process_incidents_type_state', ['type', 'state', 'uuid'])
@Index('ix_process_incidents_name_state', ['processName', 'state', 'uuid'])
@Index('ix_process_incidents_build_state', ['buildId', 'state', 'uuid'])
@Index('ix_process_incidents_element_state', ['element', 'state', 'uuid'])
@Index('ix_process_incidents_counts', ['state', 'appId', 'processName', 'type', 'element'])
export class ProcessIncidentEntity {
  @PrimaryColumn({ type: 'bigint', transformer: safeInteger }) id: number;
  /** UUID version 7 with the time when it was first raised. */
  @Column({ type: 'varchar', length: 36 }) uuid: string;
  @Column({ type: 'int' }) shard: number;
  @Column({ type: 'bigint', name: 'instance_id', transformer: safeInteger }) instanceId: number;
  @Column({ type: 'varchar', length: 16 }) state: IncidentState;
  @Column({ type: 'varchar', length: 32 }) source: IncidentSource;
  @Column({ type: 'varchar', length: 32 }) type: IncidentType;
  @Column({ type: 'varchar', length: 2000 }) message: string;
  /** Stopped token and visit; null when the incident affects the whole instance. */
  @Column({ type: 'bigint', name: 'token_id', transformer: safeInteger, nullable: true }) tokenId:
    number | null;
  @Column({ type: 'int', nullable: true }) visit: number | null;
  @Column({ type: 'int', nullable: true }) node: number | null;
  @Column({ type: 'varchar', name: 'action_svc_uuid', length: 64, nullable: true }) actionSvcUuid:
    string | null;
  /** Background job that failed permanently, or the start of the instance; null when a request failed. */
  @Column({ type: 'json', transformer: storedJson, nullable: true }) job: ParkedJob | null;
  /** Key of the stopped work, see `workKeyOf`. Each has at most one open incident. */
  @Column({ type: 'varchar', name: 'work_key', length: 64 }) workKey: string;
  @Column({ type: 'varchar', name: 'request_id', length: 64, nullable: true }) requestId: string | null;
  /** Application, build and process of the instance. */
  @Column({ type: 'varchar', name: 'app_id', length: 64 }) appId: string;
  @Column({ type: 'varchar', name: 'build_id', length: 64 }) buildId: string;
  @Column({ type: 'varchar', name: 'process_name', length: 255 }) processName: string;
  /** Id of the element in the BPMN file; null when the incident affects the whole process. */
  @Column({ type: 'varchar', length: 255, nullable: true }) element: string | null;
  /** Failed workflow run; null if no run failed. */
  @Column({ type: 'varchar', name: 'workflow_run_id', length: 36, nullable: true }) workflowRunId:
    string | null;
  /** Time of the last failure; repeated failures of the same work update the incident. */
  @Column({ type: 'datetime', name: 'raised_at', precision: 3 }) raisedAt: Date;
  @Column({ type: 'datetime', name: 'closed_at', precision: 3, nullable: true }) closedAt: Date | null;
}

/** Id of the only row. */
export const INCIDENT_COUNT_ID = 1;

/** Last count of open incidents, shared by all replicas in one row. */
@Entity('incident_counts')
export class IncidentCountEntity {
  @PrimaryColumn({ type: 'int' }) id: number;
  /** Counts by incident type. */
  @Column({ type: 'json', transformer: storedJson }) counts: JsonObject;
  /** When the next count is due. The replica that moves it forward does the count. */
  @Column({ type: 'datetime', name: 'due_at', precision: 3 }) dueAt: Date;
}
