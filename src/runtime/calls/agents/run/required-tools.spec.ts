import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agentLimits } from '../agent.limits.js';
import { ResolvedToolState, type ResolvedSystem } from '../resolution/resolution.types.js';
import { AgentTools, requireTools } from './agent-tools.js';

/** Creates a system with ready tools, each with a schema of about 1,000 bytes. */
function systemOf(tools: number): ResolvedSystem {
  return {
    systemId: 'id',
    tools: Array.from({ length: tools }, (_, index) => ({
      name: `tool${index}`,
      description: '',
      inputSchema: { description: 'x'.repeat(1_000) },
      state: ResolvedToolState.Ready,
    })),
  } as unknown as ResolvedSystem;
}

const required = (tools: number): void => {
  const systems = [systemOf(tools)];
  requireTools(systems, new AgentTools(systems));
};

describe('requireTools', () => {
  const { tools, toolsBytes } = agentLimits;
  beforeAll(() => void Object.assign(agentLimits, { tools: 10, toolsBytes: 5_000 }));
  afterAll(() => void Object.assign(agentLimits, { tools, toolsBytes }));

  it('accepts tools within both limits', () => {
    expect(() => required(4)).not.toThrow();
  });

  it.each([
    [5, 'more than 5000 bytes.'],
    [11, 'have 11 enabled tools; at most 10 are allowed'],
  ])('rejects %i tools', (count, message) => {
    expect(() => required(count)).toThrow(message);
  });
});
