import { Module } from '@nestjs/common';

import { McpConnectionService } from './mcp-connection.service.js';

/** Everything between this service and MCP servers. Needs `Env`, which the configuration module provides globally. */
@Module({ providers: [McpConnectionService], exports: [McpConnectionService] })
export class McpConnectionModule {}
