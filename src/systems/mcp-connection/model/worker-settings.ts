import { configuredOutbound } from '../../../platform/outbound/configured-outbound.js';
import type { OutboundSettings } from '../../../platform/outbound/outbound.types.js';
import { dataLimits } from '../../../platform/validation/data.limits.js';
import type { Env } from '../../../platform/config/env.js';
import { mcpCallLimits, mcpLimits } from '../mcp.limits.js';

/** Start parameters of a worker. Plain data without secrets except those of a proxy. */
export interface McpWorkerSettings {
  readonly outbound: OutboundSettings;
  readonly limits: typeof mcpLimits;
  readonly callLimits: typeof mcpCallLimits;
  /** Maximum number of JSON values in the response to one tool call. */
  readonly maxResultValues: number;
  /** Whether tools are called although their definition has changed (TOOL_CHANGE_POLICY=accept). */
  readonly acceptsChanges: boolean;
}

/** Reads the start parameters from the settings. @throws EnvError when `EGRESS_ALLOW` is invalid */
export function workerSettings(env: Env): McpWorkerSettings {
  return {
    outbound: configuredOutbound(env),
    limits: { ...mcpLimits },
    callLimits: { ...mcpCallLimits },
    maxResultValues: dataLimits.values,
    acceptsChanges: env.get('TOOL_CHANGE_POLICY') === 'accept',
  };
}
