import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { UserReference } from '../../../platform/user/user-reference.js';
import { safeInteger, storedText } from '../../../store/tables/column-values.js';
import type { AuthorizationType, SystemType } from '../../../systems/model/system.types.js';
import type { BuildStatus } from '../model/builds.types.js';

/** A build: an immutable snapshot of a committed application version. Only `status` and `activatedAt` change. */
@Entity('builds')
@Index('ix_builds_app', ['appId', 'buildId'])
@Index('ix_builds_version', ['appVersionId', 'appId'])
export class BuildEntity {
  @PrimaryColumn({ type: 'varchar', name: 'build_id', length: 36 }) buildId: string;
  @Column({ type: 'varchar', name: 'app_id', length: 64 }) appId: string;
  @Column({ type: 'varchar', name: 'app_version_id', length: 64 }) appVersionId: string;
  @Column({ type: 'varchar', length: 16 }) status: BuildStatus;
  /** SHA-256 of everything in the build except its id and time. */
  @Column({ type: 'varchar', length: 64 }) checksum: string;
  /** JSON of BuildSettings. */
  @Column({ type: 'json', transformer: storedText }) settings: string;
  /** JSON of the applications that may use the build as a library; null if its package does not specify them. */
  @Column({ type: 'json', name: 'usable_by', nullable: true, transformer: storedText }) usableBy:
    string | null;
  /** JSON of the applications that may use systems of the library in their own nodes; null for all that may use the library. */
  @Column({ type: 'json', name: 'systems_usable_by', nullable: true, transformer: storedText })
  systemsUsableBy: string | null;
  @Column({ type: 'datetime', name: 'created_at', precision: 3 }) createdAt: Date;
  @Column({ type: 'simple-json', name: 'created_by' }) createdBy: UserReference;
  /** Time of its first activation. */
  @Column({ type: 'datetime', name: 'activated_at', precision: 3, nullable: true }) activatedAt: Date | null;
}

/** The active build of an application. The other columns are null if there is none. */
@Entity('active_builds')
export class ActiveBuildEntity {
  @PrimaryColumn({ type: 'varchar', name: 'app_id', length: 64 }) appId: string;
  @Column({ type: 'varchar', name: 'build_id', length: 36, nullable: true }) buildId: string | null;
  @Column({ type: 'datetime', name: 'activated_at', precision: 3, nullable: true }) activatedAt: Date | null;
  @Column({ type: 'simple-json', name: 'activated_by', nullable: true }) activatedBy: UserReference | null;
}

/** A process definition in a build. */
@Entity('build_definitions')
@Index('uq_build_definitions_name', ['buildId', 'name'], { unique: true })
export class BuildDefinitionEntity {
  @PrimaryColumn({ type: 'bigint', transformer: safeInteger }) id: number;
  @Column({ type: 'varchar', name: 'build_id', length: 36 }) buildId: string;
  @Column({ type: 'varchar', length: 255 }) name: string;
  @Column({ type: 'varchar', name: 'svc_uuid', length: 64 }) svcUuid: string;
  @Column({ type: 'varchar', name: 'resource_id', length: 36 }) resourceId: string;
  /** File in the package that defines it. */
  @Column({ type: 'varchar', length: 255 }) file: string;
  /** JSON of ProcessGraph, with node ids. */
  @Column({ type: 'json', transformer: storedText }) graph: string;
  /** Content of that file, as it was delivered. */
  @Column({ type: 'json', transformer: storedText }) bpmn: string;
}

/** A library that a build uses, directly (level 1) or through other libraries. The primary key allows one build per library. */
@Entity('build_libraries')
export class BuildLibraryEntity {
  @PrimaryColumn({ type: 'varchar', name: 'build_id', length: 36 }) buildId: string;
  @PrimaryColumn({ type: 'varchar', name: 'library_app_id', length: 64 }) libraryAppId: string;
  @Column({ type: 'varchar', name: 'library_build_id', length: 36 }) libraryBuildId: string;
  @Column({ type: 'int' }) level: number;
}

/** The build that a call with an `Idempotency-Key` has made. The primary key decides which of two equal calls is first. */
@Entity('build_repeats')
@Index('ix_build_repeats_created', ['createdAt'])
export class BuildRepeatEntity {
  @PrimaryColumn({ type: 'varchar', name: 'key_hash', length: 64 }) keyHash: string;
  @Column({ type: 'varchar', name: 'build_id', length: 36 }) buildId: string;
  @Column({ type: 'datetime', name: 'created_at', precision: 3 }) createdAt: Date;
}

/** A system as it was when the build was made. Its secret is not copied, but stays in the row of the system, `systemId`. */
@Entity('build_systems')
export class BuildSystemEntity {
  @PrimaryColumn({ type: 'varchar', name: 'build_id', length: 36 }) buildId: string;
  @PrimaryColumn({ type: 'varchar', name: 'resource_definition_id', length: 36 })
  resourceDefinitionId: string;
  @Column({ type: 'varchar', name: 'system_id', length: 36 }) systemId: string;
  @Column({ type: 'varchar', name: 'resource_id', length: 36 }) resourceId: string;
  @Column({ type: 'varchar', length: 16 }) type: SystemType;
  @Column({ type: 'varchar', name: 'resource_name', length: 255 }) resourceName: string;
  @Column({ type: 'varchar', length: 255 }) name: string;
  @Column({ type: 'varchar', length: 2000 }) description: string;
  @Column({ type: 'varchar', name: 'base_url', length: 2048, nullable: true }) baseUrl: string | null;
  @Column({ type: 'varchar', name: 'authorization_type', length: 16, nullable: true })
  authorizationType: AuthorizationType | null;
  @Column({ type: 'varchar', name: 'client_id', length: 255, nullable: true }) clientId: string | null;
  @Column({ type: 'varchar', name: 'identity_provider_url', length: 2048, nullable: true })
  identityProviderUrl: string | null;
}

/** A tool as it was when the build was made: its reviewed definition and its enabled flag. */
@Entity('build_tools')
@Index('ix_build_tools_system', ['buildId', 'systemId'])
export class BuildToolEntity {
  @PrimaryColumn({ type: 'varchar', name: 'build_id', length: 36 }) buildId: string;
  @PrimaryColumn({ type: 'varchar', name: 'tool_id', length: 36 }) toolId: string;
  @Column({ type: 'varchar', name: 'system_id', length: 36 }) systemId: string;
  @Column({ type: 'varchar', length: 128 }) name: string;
  @Column({ type: 'varchar', length: 255, nullable: true }) title: string | null;
  @Column({ type: 'text' }) description: string;
  @Column({ type: 'simple-json', name: 'input_schema' }) inputSchema: Record<string, unknown>;
  @Column({ type: 'simple-json', name: 'output_schema', nullable: true }) outputSchema: Record<
    string,
    unknown
  > | null;
  @Column({ type: 'simple-json', nullable: true }) annotations: Record<string, unknown> | null;
  @Column({ type: 'varchar', name: 'definition_hash', length: 64 }) definitionHash: string;
  @Column({ type: 'boolean' }) enabled: boolean;
  @Column({ type: 'int' }) position: number;
}

/** A workflow in a build. */
@Entity('build_workflows')
export class BuildWorkflowEntity {
  @PrimaryColumn({ type: 'varchar', name: 'build_id', length: 36 }) buildId: string;
  @PrimaryColumn({ type: 'varchar', length: 255 }) name: string;
  @Column({ type: 'varchar', name: 'resource_id', length: 36 }) resourceId: string;
  @Column({ type: 'varchar', name: 'resource_definition_id', length: 36 }) resourceDefinitionId: string;
  /** JSON as it was delivered. */
  @Column({ type: 'json', transformer: storedText }) definition: string;
}

/** The number of a node of a process definition, the same in every build. */
@Entity('process_nodes')
@Index('uq_process_nodes_node', ['definitionSvcUuid', 'nodeSvcUuid'], { unique: true })
export class ProcessNodeEntity {
  @PrimaryColumn({ type: 'bigint', transformer: safeInteger }) id: number;
  @Column({ type: 'varchar', name: 'definition_svc_uuid', length: 64 }) definitionSvcUuid: string;
  @Column({ type: 'varchar', name: 'node_svc_uuid', length: 64 }) nodeSvcUuid: string;
  /** Id of the BPMN element when the number was assigned, to make the table readable. */
  @Column({ type: 'varchar', name: 'bpmn_id', length: 255 }) bpmnId: string;
}

/** The package of an application version. */
@Entity('app_packages')
export class AppPackageEntity {
  @PrimaryColumn({ type: 'varchar', name: 'app_id', length: 64 }) appId: string;
  @PrimaryColumn({ type: 'varchar', name: 'app_version_id', length: 64 }) appVersionId: string;
  /** SHA-256 of the canonical JSON of the document. */
  @Column({ type: 'varchar', length: 64 }) checksum: string;
  /** JSON of the document, packed by packText(). */
  @Column({ type: 'json', transformer: storedText }) document: string;
  /** JSON of DraftWorkflow[], packed by packText(). */
  @Column({ type: 'json', transformer: storedText }) workflows: string;
  @Column({ type: 'datetime', name: 'stored_at', precision: 3 }) storedAt: Date;
  @Column({ type: 'simple-json', name: 'stored_by' }) storedBy: UserReference;
}
