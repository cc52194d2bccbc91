import { configuredOutbound } from '../../../platform/outbound/configured-outbound.js';
import type { OutboundSettings } from '../../../platform/outbound/outbound.types.js';
import { dataLimits } from '../../../platform/validation/data.limits.js';
import type { Env } from '../../../platform/config/env.js';
import { mcpCallLimits, mcpLimits } from '../mcp.limits.js';

/** What a worker is started with. Plain data without secrets but those of a proxy. */
export interface McpWorkerSettings {
  readonly outbound: OutboundSettings;
  readonly limits: typeof mcpLimits;
  readonly callLimits: typeof mcpCallLimits;
  /** Values in all that a tool answers to one call. */
  readonly maxResultValues: number;
  /** TOOL_CHANGE_POLICY=accept: a tool is called although its definition has changed. */
  readonly acceptsChanges: boolean;
}

/** @throws EnvError when `EGRESS_ALLOW` cannot be read */
export function workerSettings(env: Env): McpWorkerSettings {
  return {
    outbound: configuredOutbound(env),
    limits: { ...mcpLimits },
    callLimits: { ...mcpCallLimits },
    maxResultValues: dataLimits.values,
    acceptsChanges: env.get('TOOL_CHANGE_POLICY') === 'accept',
  };
}
