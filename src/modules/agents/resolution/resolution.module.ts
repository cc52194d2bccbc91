import { Module } from '@nestjs/common';
import { BuildsModule } from '../../builds/builds.module.js';
import { SystemsModule } from '../../systems/systems.module.js';
import { ToolsModule } from '../../tools/tools.module.js';
import { PreflightController } from '../preflight.controller.js';
import { DraftResolutionService } from './draft-resolution.service.js';
import { PreflightService } from './preflight.service.js';
import { SystemResolutionService } from './system-resolution.service.js';

/** Says which systems and tools agents may use, and why not the others. */
@Module({
  imports: [BuildsModule, SystemsModule, ToolsModule],
  controllers: [PreflightController],
  providers: [DraftResolutionService, PreflightService, SystemResolutionService],
  exports: [DraftResolutionService, SystemResolutionService],
})
export class AgentResolutionModule {}
