import { Module, type OnModuleInit } from '@nestjs/common';
import { McpConnectionModule } from '../mcp-connection/mcp-connection.module.js';
import { QuotasModule } from '../quotas/quotas.module.js';
import { SystemsModule } from '../systems/systems.module.js';
import { NodeExecutorsService } from '../workflows/runs/node-executors.service.js';
import { WorkflowsModule } from '../workflows/workflows.module.js';
import { CustomAgentExecutor } from './run/custom-agent.executor.js';
import { ModelCallsService } from './llm/model-calls.service.js';
import { OpenAiModelClient } from './llm/openai-model.client.js';
import { AgentResolutionModule } from './resolution/resolution.module.js';

/** Brings nodes of type CUSTOM_AGENT to workflows. */
@Module({
  imports: [AgentResolutionModule, McpConnectionModule, QuotasModule, SystemsModule, WorkflowsModule],
  providers: [CustomAgentExecutor, ModelCallsService, OpenAiModelClient],
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
