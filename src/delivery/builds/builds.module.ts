import { Module } from '@nestjs/common';
import { ChangeConditions } from '../../platform/http/conditional-requests.js';
import { AppsModule } from '../../apps/apps.module.js';
import { PackagesModule } from '../packages/packages.module.js';
import { SystemsModule } from '../../systems/systems.module.js';
import { ActiveBuildsService } from './active/active-builds.service.js';
import { AppPackagesController } from './making/app-packages.controller.js';
import { AppPackagesService } from './packages/app-packages.service.js';
import { BuildDefinitionsService } from './contents/build-definitions.service.js';
import { BuildDifferencesService } from './differences/build-differences.service.js';
import { BuildReadsService } from './contents/build-reads.service.js';
import { BuildSeals } from './contents/build-seals.service.js';
import { BuildScopes } from './contents/build-scopes.js';
import { BuildStatusService } from './active/build-status.service.js';
import { BuildMaker } from './making/build-maker.js';
import { BuildSystemsService } from './contents/build-systems.service.js';
import { BuildWarningsService } from './making/build-warnings.service.js';
import {
  BuildDifferencesController,
  BuildInfoController,
  BuildsController,
} from './active/builds.controller.js';
import { BuildsService } from './making/builds.service.js';
import { LibrariesService } from './libraries/libraries.service.js';
import { PackageCheckService } from './packages/package-check.service.js';
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
    ActiveBuildsService,
    AppPackagesService,
    BuildDefinitionsService,
    BuildDifferencesService,
    BuildReadsService,
    BuildScopes,
    BuildSeals,
    BuildStatusService,
    BuildMaker,
    BuildSystemsService,
    BuildWarningsService,
    BuildsService,
    LibrariesService,
    PackageCheckService,
    VersionCommitsService,
    WorkflowNodesService,
  ],
  exports: [
    AppPackagesService,
    ActiveBuildsService,
    BuildDefinitionsService,
    BuildReadsService,
    BuildStatusService,
    BuildSystemsService,
    BuildWarningsService,
    BuildsService,
    VersionCommitsService,
    WorkflowNodesService,
  ],
})
export class BuildsModule {}
