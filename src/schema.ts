import { CreateSystems1780000000000 } from '../migrations/1780000000000-create-systems.js';
import { CreateIdBlocks1785000000000 } from '../migrations/1785000000000-create-id-blocks.js';
import { CreateBuilds1790000000000 } from '../migrations/1790000000000-create-builds.js';
import { CreateProcessRuntime1790000001000 } from '../migrations/1790000001000-create-process-runtime.js';
import { CreateJobs1790000002000 } from '../migrations/1790000002000-create-jobs.js';
import { CreateWorkflowRuns1790000003000 } from '../migrations/1790000003000-create-workflow-runs.js';
import { CreateDiscovery1795000000000 } from '../migrations/1795000000000-create-discovery.js';
import { CountJobFailures1795500000000 } from '../migrations/1795500000000-count-job-failures.js';
import { CreateWorkflowCalls1796000000000 } from '../migrations/1796000000000-create-workflow-calls.js';
import { AddPackageWorkflows1796000001000 } from '../migrations/1796000001000-add-package-workflows.js';
import { CreateToolDecisions1797000000000 } from '../migrations/1797000000000-create-tool-decisions.js';
import { CreateLibraryUsers1797000001000 } from '../migrations/1797000001000-create-library-users.js';
import { AddWorkflowErrorCode1797000002000 } from '../migrations/1797000002000-add-workflow-error-code.js';
import { CountJobInterruptions1797000005000 } from '../migrations/1797000005000-count-job-interruptions.js';
import { CreateMigrationSteps1797000006000 } from '../migrations/1797000006000-create-migration-steps.js';
import { AddSystemTls1797000007000 } from '../migrations/1797000007000-add-system-tls.js';
import { AddCredentialOptions1797500000000 } from '../migrations/1797500000000-add-credential-options.js';
import { AddSystemsUsableBy1797500003000 } from '../migrations/1797500003000-add-systems-usable-by.js';
import { IndexInstanceLists1797600000000 } from '../migrations/1797600000000-index-instance-lists.js';
import { CreateWriteProofs1797000005001 } from '../migrations/1797000005001-create-write-proofs.js';
import { CreateProcessFamilies1797000008000 } from '../migrations/1797000008000-create-process-families.js';
import { CreateQuotaUses1797500002000 } from '../migrations/1797500002000-create-quota-uses.js';
import { DropToolsForeignKey1797700000000 } from '../migrations/1797700000000-drop-tools-foreign-key.js';
import { AddShards1797900000000 } from '../migrations/1797900000000-add-shards.js';
import { CreateTimerOutbox1797900000001 } from '../migrations/1797900000001-create-timer-outbox.js';
import { CreateBuildRepeats1798000000000 } from '../migrations/1798000000000-create-build-repeats.js';
import { PlaceIncidents1798100000000 } from '../migrations/1798100000000-place-incidents.js';
import { CreateIncidentCounts1798100000001 } from '../migrations/1798100000001-create-incident-counts.js';
import { IndexVersions1798200000000 } from '../migrations/1798200000000-index-versions.js';
import { IndexAudit1798200000001 } from '../migrations/1798200000001-index-audit.js';
import { IndexIncidentLists1798300000000 } from '../migrations/1798300000000-index-incident-lists.js';
import { IndexBuilds1798300000001 } from '../migrations/1798300000001-index-builds.js';
import { CreateReviewedTools1798400000000 } from '../migrations/1798400000000-create-reviewed-tools.js';
import { CreateSearchValues1798400000001 } from '../migrations/1798400000001-create-search-values.js';
import { IndexInstancesByDefinition1798400000002 } from '../migrations/1798400000002-index-instances-by-definition.js';
import { IndexCallsByStart1798400000003 } from '../migrations/1798400000003-index-calls-by-start.js';
import { ExtendSystems1798500000010 } from '../migrations/1798500000010-extend-systems.js';
import { AddBuildStanding1798510000001 } from '../migrations/1798510000001-add-build-standing.js';
import { CreateProcessCorrections1798510000000 } from '../migrations/1798510000000-create-process-corrections.js';
import { AddToolsDueAt1798520000000 } from '../migrations/1798520000000-add-tools-due-at.js';
import { AddSearchValueOwners1798530000000 } from '../migrations/1798530000000-add-search-value-owners.js';
import { AddSystemHeaders1798530000001 } from '../migrations/1798530000001-add-system-headers.js';
import { AddCallerRequestId1798530000010 } from '../migrations/1798530000010-add-caller-request-id.js';
import { AddOnlyWaits1798530000011 } from '../migrations/1798530000011-add-only-waits.js';
import { AddReplicaFacts1798530000020 } from '../migrations/1798530000020-add-replica-facts.js';
import { SecretKeyEntity } from './common/secrets/secret-key.entity.js';
import { AppVersionEntity } from './modules/apps/app-version.entity.js';
import { VersionDependencyEntity } from './modules/apps/version-dependency.entity.js';
import { AuditEventEntity } from './modules/audit/storage/audit-event.entity.js';
import { ActiveBuildEntity } from './modules/builds/storage/active-build.entity.js';
import { AppPackageEntity } from './modules/builds/storage/app-package.entity.js';
import { BuildEntity } from './modules/builds/storage/build.entity.js';
import { BuildDefinitionEntity } from './modules/builds/storage/build-definition.entity.js';
import { BuildRepeatEntity } from './modules/builds/storage/build-repeat.entity.js';
import { BuildLibraryEntity } from './modules/builds/storage/build-library.entity.js';
import { BuildSystemEntity } from './modules/builds/storage/build-system.entity.js';
import { BuildToolEntity } from './modules/builds/storage/build-tool.entity.js';
import { BuildWorkflowEntity } from './modules/builds/storage/build-workflow.entity.js';
import { LibraryUserEntity } from './modules/builds/storage/library-user.entity.js';
import { ProcessNodeEntity } from './modules/builds/storage/process-node.entity.js';
import { DiscoveryChangeEntity } from './modules/discovery/storage/discovery-change.entity.js';
import { DiscoveryScanEntity } from './modules/discovery/storage/discovery-scan.entity.js';
import { DiscoveryStateEntity } from './modules/discovery/storage/discovery-state.entity.js';
import { RuntimeJobEntity } from './modules/jobs/storage/runtime-job.entity.js';
import { ProcessCorrectionEntity } from './modules/process-runtime/storage/process-correction.entity.js';
import { ProcessEventEntity } from './modules/process-runtime/storage/process-event.entity.js';
import { ProcessFamilyEntity } from './modules/process-runtime/storage/process-family.entity.js';
import { IncidentCountEntity } from './modules/process-runtime/storage/incident-count.entity.js';
import { ProcessIncidentEntity } from './modules/process-runtime/storage/process-incident.entity.js';
import { ProcessInstanceEntity } from './modules/process-runtime/storage/process-instance.entity.js';
import { ProcessMessageWaitEntity } from './modules/process-runtime/storage/process-message-wait.entity.js';
import { ProcessMessageEntity } from './modules/process-runtime/storage/process-message.entity.js';
import { ProcessRepeatEntity } from './modules/repeats/storage/process-repeat.entity.js';
import { ProcessSearchValueEntity } from './modules/process-runtime/storage/process-search-value.entity.js';
import { TimerOutboxEntity } from './modules/process-runtime/storage/timer-outbox.entity.js';
import { ProcessTokenEntity } from './modules/process-runtime/storage/process-token.entity.js';
import { QuotaUseEntity } from './modules/quotas/storage/quota-use.entity.js';
import { ResourceDefinitionEntity } from './modules/systems/storage/resource-definition.entity.js';
import { SystemEntity } from './modules/systems/storage/system.entity.js';
import { ReviewedToolEntity } from './modules/tools/storage/reviewed-tool.entity.js';
import { ToolDecisionEntity } from './modules/tools/storage/tool-decision.entity.js';
import { ToolEntity } from './modules/tools/storage/tool.entity.js';
import { WorkflowCallEntity } from './modules/workflows/storage/workflow-call.entity.js';
import { WorkflowRunEntity } from './modules/workflows/storage/workflow-run.entity.js';
import { IdBlockEntity } from './database/id-block.entity.js';
import { MigrationStepEntity } from './database/migration-step.entity.js';
import { WriteProofEntity } from './database/write-proof.entity.js';
import type { Schema } from './database/schema.types.js';

/** Every table and every migration of the service: the one list of them. */
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
    LibraryUserEntity,
    MigrationStepEntity,
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
    CreateIdBlocks1785000000000,
    CreateBuilds1790000000000,
    CreateProcessRuntime1790000001000,
    CreateJobs1790000002000,
    CreateWorkflowRuns1790000003000,
    CreateDiscovery1795000000000,
    CountJobFailures1795500000000,
    CreateWorkflowCalls1796000000000,
    AddPackageWorkflows1796000001000,
    CreateToolDecisions1797000000000,
    CreateLibraryUsers1797000001000,
    AddWorkflowErrorCode1797000002000,
    CountJobInterruptions1797000005000,
    CreateMigrationSteps1797000006000,
    AddSystemTls1797000007000,
    CreateWriteProofs1797000005001,
    CreateProcessFamilies1797000008000,
    AddCredentialOptions1797500000000,
    CreateQuotaUses1797500002000,
    AddSystemsUsableBy1797500003000,
    IndexInstanceLists1797600000000,
    DropToolsForeignKey1797700000000,
    AddShards1797900000000,
    CreateTimerOutbox1797900000001,
    CreateBuildRepeats1798000000000,
    PlaceIncidents1798100000000,
    CreateIncidentCounts1798100000001,
    IndexVersions1798200000000,
    IndexAudit1798200000001,
    IndexIncidentLists1798300000000,
    IndexBuilds1798300000001,
    CreateReviewedTools1798400000000,
    CreateSearchValues1798400000001,
    IndexInstancesByDefinition1798400000002,
    IndexCallsByStart1798400000003,
    ExtendSystems1798500000010,
    CreateProcessCorrections1798510000000,
    AddBuildStanding1798510000001,
    AddToolsDueAt1798520000000,
    AddSearchValueOwners1798530000000,
    AddSystemHeaders1798530000001,
    AddCallerRequestId1798530000010,
    AddOnlyWaits1798530000011,
    AddReplicaFacts1798530000020,
  ],
  shardedMigrations: [
    CreateProcessRuntime1790000001000,
    CreateJobs1790000002000,
    CreateWorkflowRuns1790000003000,
    CountJobFailures1795500000000,
    CreateWorkflowCalls1796000000000,
    AddWorkflowErrorCode1797000002000,
    CountJobInterruptions1797000005000,
    CreateProcessFamilies1797000008000,
    IndexInstanceLists1797600000000,
    AddShards1797900000000,
    PlaceIncidents1798100000000,
    IndexIncidentLists1798300000000,
    CreateSearchValues1798400000001,
    IndexInstancesByDefinition1798400000002,
    IndexCallsByStart1798400000003,
    CreateProcessCorrections1798510000000,
    AddSearchValueOwners1798530000000,
    AddOnlyWaits1798530000011,
  ],
};
