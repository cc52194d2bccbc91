import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module.js';
import { BuildsModule } from '../delivery/builds/builds.module.js';
import { AgentsModule } from '../runtime/calls/agents/agents.module.js';
import { ToolsModule } from '../systems/tools/tools.module.js';
import { GatewayCallsService } from './calls/gateway-calls.service.js';
import { ToolCatalogueService } from './catalogue/tool-catalogue.service.js';
import { McpEndpointsController, ResourceMetadataController } from './endpoint/mcp-endpoints.controller.js';
import { McpEndpointsService } from './endpoint/mcp-endpoints.service.js';

/** Offers the reviewed and enabled tools of applications to agents outside the service, over MCP. */
@Module({
  imports: [AgentsModule, AuditModule, BuildsModule, ToolsModule],
  controllers: [McpEndpointsController, ResourceMetadataController],
  providers: [GatewayCallsService, McpEndpointsService, ToolCatalogueService],
})
export class GatewayModule {}
