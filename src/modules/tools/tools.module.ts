import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module.js';
import { McpConnectionModule } from '../mcp-connection/mcp-connection.module.js';
import { SystemsModule } from '../systems/systems.module.js';
import { ConnectionTestController } from './connection-test.controller.js';
import { ConnectionTestRecords } from './connection-test-records.js';
import { ConnectionTestService } from './connection-test.service.js';
import { ToolDecisionsRepository } from './tool-decisions.repository.js';
import { ToolDecisionsService } from './tool-decisions.service.js';
import { ToolStatesService } from './tool-states.service.js';
import { ToolSyncService } from './tool-sync.service.js';
import { ToolUsesService } from './tool-uses.service.js';
import { ToolsController } from './tools.controller.js';
import { ToolsRepository } from './tools.repository.js';
import { ToolsService } from './tools.service.js';

/** Finds the tools of MCP systems, keeps them in line with their servers and switches them. */
@Module({
  imports: [AuditModule, McpConnectionModule, SystemsModule],
  controllers: [ConnectionTestController, ToolsController],
  providers: [
    ConnectionTestRecords,
    ConnectionTestService,
    ToolDecisionsRepository,
    ToolDecisionsService,
    ToolStatesService,
    ToolSyncService,
    ToolUsesService,
    ToolsRepository,
    ToolsService,
  ],
  exports: [ToolStatesService, ToolUsesService],
})
export class ToolsModule {}
