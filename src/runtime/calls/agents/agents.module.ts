import { Module, type OnModuleInit } from '@nestjs/common';
import { McpConnectionModule } from '../../../systems/mcp-connection/mcp-connection.module.js';
import { QuotasModule } from '../../quotas/quotas.module.js';
import { SystemsModule } from '../../../systems/systems.module.js';
import { NodeExecutorsService } from '../workflows/runs/node-executors.service.js';
import { WorkflowsModule } from '../workflows/workflows.module.js';
import { CustomAgentExecutor } from './run/custom-agent.executor.js';
import { ModelCallsService } from './llm/model-calls.service.js';
import { OpenAiModelClient } from './llm/openai-model.client.js';
import { AppsModule } from '../../../apps/apps.module.js';
import { BuildsModule } from '../../../delivery/builds/builds.module.js';
import { ToolsModule } from '../../../systems/tools/tools.module.js';
import { PreflightController } from './resolution/preflight.controller.js';
import { AgentUsesService } from './resolution/agent-uses.service.js';
import { VersionWarningsService } from './resolution/version-warnings.service.js';
import { DraftResolutionService, SystemResolutionService } from './resolution/system-resolution.service.js';
import { PreflightService } from './resolution/preflight.service.js';

/** Runs workflow nodes of type CUSTOM_AGENT and checks which systems and tools agents may use. */
@Module({
  imports: [
    AppsModule,
    BuildsModule,
    McpConnectionModule,
    QuotasModule,
    SystemsModule,
    ToolsModule,
    WorkflowsModule,
  ],
  controllers: [PreflightController],
  providers: [
    AgentUsesService,
    CustomAgentExecutor,
    DraftResolutionService,
    ModelCallsService,
    OpenAiModelClient,
    PreflightService,
    SystemResolutionService,
    VersionWarningsService,
  ],
  exports: [SystemResolutionService],
})
export class AgentsModule implements OnModuleInit {
  constructor(
    private readonly executors: NodeExecutorsService,
    private readonly agents: CustomAgentExecutor,
  ) {}

  onModuleInit(): void {
    this.executors.register(this.agents);
  }
}
