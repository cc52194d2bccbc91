import { Module } from '@nestjs/common';
import { AuditModule } from '../../audit/audit.module.js';
import { McpConnectionModule } from '../mcp-connection/mcp-connection.module.js';
import { SystemsModule } from '../systems.module.js';
import { HandCallsService } from './calling/hand-calls.service.js';
import { ReviewedCallsService } from './calling/reviewed-calls.service.js';
import { ToolCallController } from './calling/tool-call.controller.js';
import { ConnectionTestController } from './connection-tests/connection-test.controller.js';
import { ConnectionTestService } from './connection-tests/connection-test.service.js';
import { ToolDecisionsRepository } from './storage/tool-decisions.repository.js';
import { ToolDecisionsService, ToolSyncService } from './synchronisation/tool-sync.service.js';
import { ToolRefreshes, ToolRefreshHandler } from './refreshing/tool-refresh.handler.js';
import { ToolsController } from './switching/tools.controller.js';
import { ToolsRepository } from './storage/tools.repository.js';
import { ToolsService } from './switching/tools.service.js';

/** Synchronises the tools of MCP systems with their servers, enables, disables and calls them. */
@Module({
  imports: [AuditModule, McpConnectionModule, SystemsModule],
  controllers: [ConnectionTestController, ToolCallController, ToolsController],
  providers: [
    ConnectionTestService,
    HandCallsService,
    ReviewedCallsService,
    ToolDecisionsRepository,
    ToolDecisionsService,
    ToolRefreshHandler,
    ToolRefreshes,
    ToolSyncService,
    ToolsRepository,
    ToolsService,
  ],
  exports: [ReviewedCallsService, ToolsService],
})
export class ToolsModule {}
