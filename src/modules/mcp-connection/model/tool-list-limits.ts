import type { Env } from '../../../config/env.js';
import type { ToolListLimits } from '../worker/tool-list.reader.js';

/** Bounds of a tool list as configured, the same for connection tests and tool calls. */
export function toolListLimits(env: Env): ToolListLimits {
  return {
    maxPages: env.get('MCP_MAX_PAGES'),
    maxTools: env.get('MCP_MAX_TOOLS'),
    maxBytes: env.get('MCP_MAX_SCHEMA_BYTES'),
    maxDepth: env.get('MCP_MAX_SCHEMA_DEPTH'),
    maxNodes: env.get('MCP_MAX_SCHEMA_NODES'),
  };
}
