import { Module } from '@nestjs/common';
import { AppsModule } from '../../apps/apps.module.js';
import { BuildsModule } from '../../builds/builds.module.js';
import { SystemsModule } from '../../systems/systems.module.js';
import { ToolsModule } from '../../tools/tools.module.js';
import { PreflightController } from './preflight.controller.js';
import { AgentUsesService } from './agent-uses.service.js';
import { DraftResolutionService } from './draft-resolution.service.js';
import { PreflightService } from './preflight.service.js';
import { SystemResolutionService } from './system-resolution.service.js';
import { VersionWarningsService } from './version-warnings.service.js';

/** Says which systems and tools agents may use, and why not the others. */
@Module({
  imports: [AppsModule, BuildsModule, SystemsModule, ToolsModule],
  controllers: [PreflightController],
  providers: [
    AgentUsesService,
    DraftResolutionService,
    PreflightService,
    SystemResolutionService,
    VersionWarningsService,
  ],
  exports: [DraftResolutionService, SystemResolutionService],
})
export class AgentResolutionModule {}
