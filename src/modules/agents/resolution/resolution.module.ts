import { Module } from '@nestjs/common';
import { BuildsModule } from '../../builds/builds.module.js';
import { SystemsModule } from '../../systems/systems.module.js';
import { ToolsModule } from '../../tools/tools.module.js';
import { SystemResolutionService } from './system-resolution.service.js';

/** Says which systems and tools agents may use, and why not the others. */
@Module({
  imports: [BuildsModule, SystemsModule, ToolsModule],
  providers: [SystemResolutionService],
  exports: [SystemResolutionService],
})
export class AgentResolutionModule {}
