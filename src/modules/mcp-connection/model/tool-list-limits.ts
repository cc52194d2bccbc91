import type { Env } from '../../../config/env.js';

/** Bounds of one foreign JSON document. */
export interface SchemaLimits {
  /** UTF-8 bytes as JSON. */
  maxBytes: number;
  /** Nesting of objects and arrays. */
  maxDepth: number;
  /** Objects and arrays in all. */
  maxNodes: number;
}

/** Bounds of one tool list. */
export interface ToolListLimits extends SchemaLimits {
  maxPages: number;
  /** Entries over all pages, bad ones included. */
  maxTools: number;
}

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
