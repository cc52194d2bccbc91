import { describe, expect, it } from 'vitest';
import { ResolvedToolState, type FoundSystem } from '../resolution/resolution.types.js';
import { AgentTools } from './agent-tools.js';
import { requireTools } from './required-tools.js';

/** A system with so many ready tools, each with a schema of some 1,000 bytes. */
function systemOf(tools: number): FoundSystem {
  return {
    systemId: 'id',
    tools: Array.from({ length: tools }, (_, index) => ({
      name: `tool${index}`,
      description: '',
      inputSchema: { description: 'x'.repeat(1_000) },
      state: ResolvedToolState.Ready,
    })),
  } as unknown as FoundSystem;
}

const required = (tools: number): void => {
  const systems = [systemOf(tools)];
  requireTools(systems, new AgentTools(systems), { maxTools: 10, maxBytes: 5_000 });
};

describe('requireTools', () => {
  it('takes tools within both bounds', () => {
    expect(() => required(4)).not.toThrow();
  });

  it.each([
    [5, 'more than 5000 bytes.'],
    [11, 'have 11 enabled tools, and may have 10'],
  ])('refuses %i tools', (tools, message) => {
    expect(() => required(tools)).toThrow(message);
  });
});
