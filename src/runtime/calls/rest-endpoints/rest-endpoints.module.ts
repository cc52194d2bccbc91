import { Module } from '@nestjs/common';
import { BuildsModule } from '../../../delivery/builds/builds.module.js';
import { McpConnectionModule } from '../../../systems/mcp-connection/mcp-connection.module.js';
import { SystemsModule } from '../../../systems/systems.module.js';
import { WorkflowsModule } from '../workflows/workflows.module.js';
import { RestCallerService } from './rest-caller.service.js';
import { RestEndpointExecutor } from './rest-endpoint.executor.js';

/** Runs REST_ENDPOINT nodes of workflows. */
@Module({
  imports: [BuildsModule, McpConnectionModule, SystemsModule, WorkflowsModule],
  providers: [RestCallerService, RestEndpointExecutor],
})
export class RestEndpointsModule {}
