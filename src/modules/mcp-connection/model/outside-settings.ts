import { configuredOutbound } from '../../../common/outbound/configured-outbound.js';
import type { OutboundSettings } from '../../../common/outbound/outbound.types.js';
import type { Env } from '../../../config/env.js';
import type { ToolListLimits } from './tool-list-limits.js';

/** How a worker may talk to outside parties, handed over once as `workerData`. Plain data without secrets but those of a proxy. */
export interface OutsideSettings {
  outbound: OutboundSettings;
  tokenMaxBytes: number;
  tokenTimeoutMs: number;
  toolList: ToolListLimits;
}

/**
 * What is configured for connection tests and tool calls alike.
 * @param tokenTimeoutMs deadline of a request for a token
 * @throws EnvError when `EGRESS_ALLOW` cannot be read
 */
export function outsideSettings(env: Env, tokenTimeoutMs: number): OutsideSettings {
  return {
    outbound: configuredOutbound(env),
    tokenMaxBytes: env.get('TOKEN_ENDPOINT_MAX_BYTES'),
    tokenTimeoutMs,
    toolList: {
      maxPages: env.get('MCP_MAX_PAGES'),
      maxTools: env.get('MCP_MAX_TOOLS'),
      maxBytes: env.get('MCP_MAX_SCHEMA_BYTES'),
      maxDepth: env.get('MCP_MAX_SCHEMA_DEPTH'),
      maxNodes: env.get('MCP_MAX_SCHEMA_NODES'),
    },
  };
}
