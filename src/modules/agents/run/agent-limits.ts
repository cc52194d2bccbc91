import type { Env } from '../../../config/env.js';

/** Limits of one agent, from the settings with these names. */
export interface AgentLimits {
  readonly maxIterations: number;
  readonly maxRepairs: number;
  readonly maxTokens: number;
  readonly maxCallsPerTurn: number;
  /** Base64 of all images in one question. */
  readonly maxImageBytes: number;
}

/** The limits of this deployment. */
export function agentLimits(env: Env): AgentLimits {
  return {
    maxIterations: env.get('AGENT_MAX_ITERATIONS'),
    maxRepairs: env.get('AGENT_MAX_REPAIRS'),
    maxTokens: env.get('AGENT_MAX_TOKENS'),
    maxCallsPerTurn: env.get('AGENT_MAX_CALLS_PER_TURN'),
    maxImageBytes: env.get('AGENT_MAX_IMAGE_BYTES'),
  };
}
