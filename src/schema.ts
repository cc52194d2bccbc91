import { CreateSystems1780000000000 } from '../migrations/1780000000000-create-systems.js';
import { CreateAudit1780000000001 } from '../migrations/1780000000001-create-audit.js';
import { CreateBuilds1780000000002 } from '../migrations/1780000000002-create-builds.js';
import { CreateProcessRuntime1780000000003 } from '../migrations/1780000000003-create-process-runtime.js';
import { CreateJobs1780000000004 } from '../migrations/1780000000004-create-jobs.js';
import { CreateWorkflows1780000000005 } from '../migrations/1780000000005-create-workflows.js';
import { CreateDiscovery1780000000006 } from '../migrations/1780000000006-create-discovery.js';
import { CreatePlatform1780000000007 } from '../migrations/1780000000007-create-platform.js';
import { SecretKeyEntity } from './platform/secrets/secret-key.entity.js';
import { AppVersionEntity, VersionDependencyEntity } from './apps/app-version.entity.js';
import { AuditEventEntity } from './audit/storage/audit-event.entity.js';
import {
  ActiveBuildEntity,
  AppPackageEntity,
  BuildEntity,
  BuildDefinitionEntity,
  BuildRepeatEntity,
  BuildLibraryEntity,
  BuildSystemEntity,
  BuildToolEntity,
  BuildWorkflowEntity,
  ProcessNodeEntity,
} from './delivery/builds/storage/build.entity.js';
import {
  DiscoveryChangeEntity,
  DiscoveryScanEntity,
  DiscoveryStateEntity,
} from './discovery/storage/discovery.entity.js';
import { RuntimeJobEntity } from './jobs/storage/runtime-job.entity.js';
import { ProcessCorrectionEntity, ProcessEventEntity } from './runtime/storage/process-event.entity.js';
import { ProcessFamilyEntity, ProcessInstanceEntity } from './runtime/storage/process-instance.entity.js';
import { IncidentCountEntity, ProcessIncidentEntity } from './runtime/storage/process-incident.entity.js';
import { ProcessMessageWaitEntity, ProcessMessageEntity } from './runtime/storage/process-message.entity.js';
import { ProcessRepeatEntity } from './idempotency/storage/process-repeat.entity.js';
import { ProcessSearchValueEntity } from './runtime/storage/process-search-value.entity.js';
import { TimerOutboxEntity } from './runtime/storage/timer-outbox.entity.js';
import { ProcessTokenEntity } from './runtime/storage/process-token.entity.js';
import { QuotaUseEntity } from './runtime/quotas/storage/quota-use.entity.js';
import { ResourceDefinitionEntity, SystemEntity } from './systems/storage/system.entity.js';
import { ReviewedToolEntity, ToolDecisionEntity, ToolEntity } from './systems/tools/storage/tool.entity.js';
import {
  WorkflowCallEntity,
  WorkflowRunEntity,
} from './runtime/calls/workflows/storage/workflow-run.entity.js';
import { IdBlockEntity } from './store/ids/id-block.entity.js';
import { WriteProofEntity } from './store/write-proof.entity.js';
import type { Schema } from './store/schema.types.js';

/** All entities and migrations of the service. */
export const SCHEMA: Schema = {
  entities: [
    ActiveBuildEntity,
    AppPackageEntity,
    AppVersionEntity,
    AuditEventEntity,
    BuildDefinitionEntity,
    BuildEntity,
    BuildLibraryEntity,
    BuildRepeatEntity,
    BuildSystemEntity,
    BuildToolEntity,
    BuildWorkflowEntity,
    DiscoveryChangeEntity,
    DiscoveryScanEntity,
    DiscoveryStateEntity,
    IdBlockEntity,
    IncidentCountEntity,
    ProcessCorrectionEntity,
    ProcessEventEntity,
    ProcessFamilyEntity,
    ProcessIncidentEntity,
    ProcessInstanceEntity,
    ProcessMessageEntity,
    ProcessMessageWaitEntity,
    ProcessNodeEntity,
    ProcessRepeatEntity,
    ProcessSearchValueEntity,
    ProcessTokenEntity,
    QuotaUseEntity,
    ResourceDefinitionEntity,
    ReviewedToolEntity,
    RuntimeJobEntity,
    SecretKeyEntity,
    SystemEntity,
    TimerOutboxEntity,
    ToolDecisionEntity,
    ToolEntity,
    VersionDependencyEntity,
    WorkflowCallEntity,
    WorkflowRunEntity,
    WriteProofEntity,
  ],
  migrations: [
    CreateSystems1780000000000,
    CreateAudit1780000000001,
    CreateBuilds1780000000002,
    CreateProcessRuntime1780000000003,
    CreateJobs1780000000004,
    CreateWorkflows1780000000005,
    CreateDiscovery1780000000006,
    CreatePlatform1780000000007,
  ],
  shardedMigrations: [
    CreateProcessRuntime1780000000003,
    CreateJobs1780000000004,
    CreateWorkflows1780000000005,
  ],
};
