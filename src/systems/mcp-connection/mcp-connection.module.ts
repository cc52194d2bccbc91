import { Module } from '@nestjs/common';

import { McpConnectionService } from './mcp-connection.service.js';
import { ServiceAccountTokensService } from './service-account-tokens.service.js';
import { ToolCallsService } from './calls/tool-calls.service.js';

/** Communication with MCP servers. Requires `Env`, which the configuration module provides globally. */
@Module({
  providers: [McpConnectionService, ServiceAccountTokensService, ToolCallsService],
  exports: [McpConnectionService, ServiceAccountTokensService, ToolCallsService],
})
export class McpConnectionModule {}
