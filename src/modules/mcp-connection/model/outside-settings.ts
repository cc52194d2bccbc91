import { configuredOutbound } from '../../../common/outbound/configured-outbound.js';
import type { OutboundSettings } from '../../../common/outbound/outbound.types.js';
import type { Env } from '../../../config/env.js';
import type { ToolListLimits } from './tool-list-limits.js';
import { mcpLimits } from '../mcp.limits.js';

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
    tokenMaxBytes: mcpLimits.tokenEndpointMaxBytes,
    tokenTimeoutMs,
    toolList: {
      maxPages: mcpLimits.maxPages,
      maxTools: mcpLimits.maxTools,
      maxBytes: mcpLimits.maxSchemaBytes,
      maxDepth: mcpLimits.maxSchemaDepth,
      maxNodes: mcpLimits.maxSchemaNodes,
    },
  };
}
