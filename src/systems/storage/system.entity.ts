import type { AppVersionStatus } from '../../apps/apps.types.js';
import type { ToolRow, AuthorizationType, SystemType } from '../model/system.types.js';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { UserReference } from '../../platform/user/user-reference.js';

/** A system (data source) of an application version. `authorizationType` and `baseUrl` are always set for MCP systems. */
@Entity('systems')
@Index('uq_systems_version_name', ['appId', 'appVersionId', 'nameKey'], { unique: true })
@Index('uq_systems_resource_id', ['resourceId'], { unique: true })
@Index('ix_systems_connection', ['appId', 'appVersionId', 'connectionKey'])
export class SystemEntity {
  @PrimaryColumn({ type: 'varchar', length: 36 }) id: string;
  @Column({ type: 'varchar', name: 'resource_id', length: 36 }) resourceId: string;
  @Column({ type: 'varchar', name: 'resource_definition_id', length: 36 }) resourceDefinitionId: string;
  @Column({ type: 'varchar', name: 'app_id', length: 64 }) appId: string;
  @Column({ type: 'varchar', name: 'app_version_id', length: 64 }) appVersionId: string;
  @Column({ type: 'varchar', length: 16 }) type: SystemType;
  @Column({ type: 'varchar', name: 'resource_name', length: 255 }) resourceName: string;
  /** The resource name in lower case, because names are unique ignoring case. */
  @Column({ type: 'varchar', name: 'name_key', length: 255 }) nameKey: string;
  @Column({ type: 'varchar', length: 255 }) name: string;
  @Column({ type: 'varchar', length: 2000 }) description: string;
  @Column({ type: 'varchar', name: 'base_url', length: 2048, nullable: true }) baseUrl: string | null;
  @Column({ type: 'varchar', name: 'authorization_type', length: 16, nullable: true })
  authorizationType: AuthorizationType | null;
  @Column({ type: 'varchar', name: 'client_id', length: 255, nullable: true }) clientId: string | null;
  /** The client secret, private key or API key, sealed by SecretCipher for this row. */
  @Column({ type: 'text', name: 'client_secret', nullable: true }) clientSecret: string | null;
  @Column({ type: 'varchar', name: 'identity_provider_url', length: 2048, nullable: true })
  identityProviderUrl: string | null;
  /** Certificates (PEM) of the authorities to trust for this system instead of the built-in ones. */
  @Column({ type: 'text', name: 'tls_ca', nullable: true }) caCertificates: string | null;
  /** Client certificate (PEM), followed by its chain. */
  @Column({ type: 'text', name: 'tls_certificate', nullable: true }) clientCertificate: string | null;
  /** Private key of the client certificate, sealed like the client secret. */
  @Column({ type: 'text', name: 'tls_key', nullable: true }) clientKey: string | null;
  /** Options of the credentials without the secret, see connection.ts; null when there are none. */
  @Column({ type: 'text', name: 'credential_options', nullable: true }) credentialOptions: string | null;
  /** Static headers of every request to the server, sealed like the client secret. */
  @Column({ type: 'text', nullable: true }) headers: string | null;
  /** Names of the static headers as JSON text. */
  @Column({ type: 'text', name: 'header_names', nullable: true }) headerNames: string | null;
  /** Deadline of one tool call in milliseconds; null for the default of the deployment. */
  @Column({ type: 'int', name: 'timeout_ms', nullable: true }) timeoutMs: number | null;
  /** Hash of all parts of the connection that are not secret, see `connectionKey`. */
  @Column({ type: 'varchar', name: 'connection_key', length: 64, nullable: true }) connectionKey:
    string | null;
  /** When the tools were last read; null means never, so the next list is the baseline. */
  @Column({ type: 'datetime', name: 'tools_synchronised_at', precision: 3, nullable: true })
  toolsSynchronisedAt: Date | null;
  /** When the next refresh of the tools is due; null for immediately. Unused without MCP_REFRESH_MINUTES. */
  @Column({ type: 'datetime', name: 'tools_due_at', precision: 3, nullable: true })
  toolsDueAt: Date | null;
  @Column({ type: 'simple-json', name: 'created_by' }) createdBy: UserReference;
  @Column({ type: 'simple-json', name: 'modified_by' }) modifiedBy: UserReference;
  @Column({ type: 'datetime', name: 'created_at', precision: 3 }) createdAt: Date;
  @Column({ type: 'datetime', name: 'modified_at', precision: 3 }) modifiedAt: Date;
}

/** Definition of a named resource, shared by all versions of an application. */
@Entity('resource_definitions')
@Index('uq_resource_definitions_app_name', ['appId', 'nameKey'], { unique: true })
export class ResourceDefinitionEntity {
  @PrimaryColumn({ type: 'varchar', length: 36 }) id: string;
  @Column({ type: 'varchar', name: 'app_id', length: 64 }) appId: string;
  @Column({ type: 'varchar', name: 'name_key', length: 255 }) nameKey: string;
  @Column({ type: 'datetime', name: 'created_at', precision: 3 }) createdAt: Date;
  /** When tools of any system of this definition were first stored; null means never. */
  @Column({ type: 'datetime', name: 'tools_synchronised_at', precision: 3, nullable: true })
  toolsSynchronisedAt: Date | null;
}

/** A system that is locked until the transaction ends. */
export interface LockedSystem {
  system: SystemEntity;
  /** False in a committed version, where the definition must not change. */
  writable: boolean;
}

/** Columns of a system in lists. */
export type SystemSummaryRow = Pick<
  SystemEntity,
  SystemNames | 'resourceId' | 'description' | 'appVersionId' | 'modifiedAt'
>;

/** Columns of a system that its users need. */
export type SystemState = Pick<SystemEntity, SystemNames | 'baseUrl' | 'toolsSynchronisedAt'>;

type SystemNames = 'id' | 'appId' | 'resourceDefinitionId' | 'resourceName' | 'name' | 'type';

/** Columns of an MCP system that a health check of its server needs. */
export type McpServerRow = Pick<
  SystemEntity,
  'id' | 'appId' | 'resourceDefinitionId' | 'resourceName' | 'identityProviderUrl'
> & {
  baseUrl: string;
  authorizationType: AuthorizationType;
};

/** Columns of an MCP system that are shown. */
export type SystemDetails = Omit<
  SystemEntity,
  | 'appId'
  | 'appVersionId'
  | 'resourceName'
  | 'nameKey'
  | 'clientSecret'
  | 'clientKey'
  | 'headers'
  | 'connectionKey'
  | 'toolsSynchronisedAt'
  | 'toolsDueAt'
> & {
  hasClientKey: boolean;
  tools: ToolRow[];
};

/** An MCP system with its entity tag. */
export interface TaggedSystem {
  system: SystemDetails;
  tag: string;
}

/** Systems of some versions. `versions` is present only when the manifest was requested. */
export interface SystemList {
  rows: SystemSummaryRow[];
  versions?: AppVersionStatus[];
}
