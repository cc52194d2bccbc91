import { Module } from '@nestjs/common';
import { AppsModule } from '../apps/apps.module.js';
import { PackagesModule } from '../packages/packages.module.js';
import { SystemsModule } from '../systems/systems.module.js';
import { ActiveBuildsRepository } from './active-builds.repository.js';
import { ActiveBuildsService } from './active-builds.service.js';
import { AppPackagesController } from './app-packages.controller.js';
import { AppPackagesRepository } from './app-packages.repository.js';
import { AppPackagesService } from './app-packages.service.js';
import { BuildAuditSubjects } from './build-audit-subjects.js';
import { BuildContentsRepository } from './build-contents.repository.js';
import { BuildDefinitionsService } from './build-definitions.service.js';
import { BuildDraftsService } from './build-drafts.service.js';
import { BuildInfoController } from './build-info.controller.js';
import { BuildReadsService } from './build-reads.service.js';
import { BuildScopes } from './build-scopes.js';
import { BuildSnapshotsService } from './build-snapshots.service.js';
import { BuildSystemsService } from './build-systems.service.js';
import { BuildWarningsService } from './build-warnings.service.js';
import { BuildsController } from './builds.controller.js';
import { BuildsRepository } from './builds.repository.js';
import { BuildsService } from './builds.service.js';
import { CommitChecksService } from './commit-checks.service.js';
import { DefinitionRowsRepository } from './definition-rows.repository.js';
import { DefinitionStore } from './definition-store.js';
import { LibrariesService } from './libraries.service.js';
import { LibraryRightsRepository } from './library-rights.repository.js';
import { LibraryRightsService } from './library-rights.service.js';
import { PackageAuditService } from './package-audit.service.js';
import { PackageCheckService } from './package-check.service.js';
import { ProcessNumbers } from './process-numbers.js';
import { VersionCommitsService } from './version-commits.service.js';
import { WorkflowNodesController } from './workflow-nodes.controller.js';
import { WorkflowNodesService } from './workflow-nodes.service.js';

/** Application packages in draft versions, commits, builds, and the active build of each application. */
@Module({
  imports: [AppsModule, PackagesModule, SystemsModule],
  controllers: [AppPackagesController, BuildInfoController, BuildsController, WorkflowNodesController],
  providers: [
    ActiveBuildsRepository,
    ActiveBuildsService,
    AppPackagesRepository,
    AppPackagesService,
    BuildAuditSubjects,
    BuildContentsRepository,
    BuildDefinitionsService,
    BuildDraftsService,
    BuildReadsService,
    BuildScopes,
    BuildSnapshotsService,
    BuildSystemsService,
    BuildWarningsService,
    BuildsRepository,
    BuildsService,
    CommitChecksService,
    DefinitionRowsRepository,
    DefinitionStore,
    LibrariesService,
    LibraryRightsRepository,
    LibraryRightsService,
    PackageAuditService,
    PackageCheckService,
    ProcessNumbers,
    VersionCommitsService,
    WorkflowNodesService,
  ],
  exports: [
    AppPackagesService,
    ActiveBuildsService,
    BuildDefinitionsService,
    BuildReadsService,
    BuildSystemsService,
    BuildWarningsService,
    BuildsService,
    VersionCommitsService,
    WorkflowNodesService,
  ],
})
export class BuildsModule {}
