import { Module } from '@nestjs/common';
import { ChangeConditions } from '../../common/http/conditional-requests.js';
import { AppsModule } from '../apps/apps.module.js';
import { PackagesModule } from '../packages/packages.module.js';
import { SystemsModule } from '../systems/systems.module.js';
import { ActiveBuildsRepository } from './storage/active-builds.repository.js';
import { ActiveBuildsService } from './active/active-builds.service.js';
import { AppPackagesController } from './making/app-packages.controller.js';
import { AppPackagesRepository } from './storage/app-packages.repository.js';
import { AppPackagesService } from './packages/app-packages.service.js';
import { BuildAuditSubjects } from './build-audit-subjects.js';
import { BuildContentsRepository } from './storage/build-contents.repository.js';
import { BuildDefinitionsService } from './contents/build-definitions.service.js';
import { BuildDifferencesController } from './differences/build-differences.controller.js';
import { BuildDifferencesService } from './differences/build-differences.service.js';
import { BuildDraftsService } from './making/build-drafts.service.js';
import { BuildInfoController } from './active/build-info.controller.js';
import { BuildReadsService } from './contents/build-reads.service.js';
import { BuildSeals } from './contents/build-seals.service.js';
import { BuildScopes } from './contents/build-scopes.js';
import { BuildStandingsService } from './active/build-standings.service.js';
import { BuildWithdrawalsService } from './active/build-withdrawals.service.js';
import { BuildMaker } from './making/build-maker.js';
import { BuildRepeatsRepository } from './storage/build-repeats.repository.js';
import { BuildSnapshotsService } from './making/build-snapshots.service.js';
import { BuildSystemsService } from './contents/build-systems.service.js';
import { BuildWarningsService } from './making/build-warnings.service.js';
import { BuildsController } from './active/builds.controller.js';
import { BuildsRepository } from './storage/builds.repository.js';
import { BuildsService } from './making/builds.service.js';
import { CommitChecksService } from './making/commit-checks.service.js';
import { PackageProblemsService } from './making/package-problems.service.js';
import { DefinitionRowsRepository } from './storage/definition-rows.repository.js';
import { LibrariesService } from './libraries/libraries.service.js';
import { LibraryRightsRepository } from './storage/library-rights.repository.js';
import { LibraryRightsService } from './libraries/library-rights.service.js';
import { PackageAuditService } from './packages/package-audit.service.js';
import { PackageCheckService } from './packages/package-check.service.js';
import { PackageDeliveriesService } from './packages/package-deliveries.service.js';
import { ProcessNumbers } from './storage/process-numbers.js';
import { VersionCommitsService } from './making/version-commits.service.js';
import { WorkflowNodesController } from './nodes/workflow-nodes.controller.js';
import { WorkflowNodesService } from './nodes/workflow-nodes.service.js';

/** Application packages in draft versions, commits, builds, and the active build of each application. */
@Module({
  imports: [AppsModule, PackagesModule, SystemsModule],
  controllers: [
    AppPackagesController,
    BuildDifferencesController,
    BuildInfoController,
    BuildsController,
    WorkflowNodesController,
  ],
  providers: [
    ChangeConditions,
    ActiveBuildsRepository,
    ActiveBuildsService,
    AppPackagesRepository,
    AppPackagesService,
    BuildAuditSubjects,
    BuildContentsRepository,
    BuildDefinitionsService,
    BuildDifferencesService,
    BuildDraftsService,
    BuildReadsService,
    BuildScopes,
    BuildSeals,
    BuildStandingsService,
    BuildWithdrawalsService,
    BuildMaker,
    BuildRepeatsRepository,
    BuildSnapshotsService,
    BuildSystemsService,
    BuildWarningsService,
    BuildsRepository,
    BuildsService,
    CommitChecksService,
    PackageProblemsService,
    DefinitionRowsRepository,
    LibrariesService,
    LibraryRightsRepository,
    LibraryRightsService,
    PackageAuditService,
    PackageCheckService,
    PackageDeliveriesService,
    ProcessNumbers,
    VersionCommitsService,
    WorkflowNodesService,
  ],
  exports: [
    AppPackagesService,
    ActiveBuildsService,
    BuildDefinitionsService,
    BuildReadsService,
    BuildStandingsService,
    BuildSystemsService,
    BuildWarningsService,
    BuildWithdrawalsService,
    BuildsService,
    VersionCommitsService,
    WorkflowNodesService,
  ],
})
export class BuildsModule {}
