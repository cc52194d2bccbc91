import { expect } from 'vitest';
import type { TestGraph } from './graph-builder.js';
import { checkInvariants } from './invariants.js';
import { MemoryEngine } from './memory-engine.js';

/** A memory engine that holds every instance to the invariants after each of its steps. */
export function engineOf(...graphs: TestGraph[]): MemoryEngine {
  const engine = new MemoryEngine(...graphs.map((graph) => graph.build()));
  engine.afterStep = (instance) => checkInvariants(engine, instance);
  return engine;
}

/** Expects a refusal or incident with these members. */
export function expectFailure(attempt: () => unknown, members: Record<string, unknown>): void {
  expect(attempt).toThrow(expect.objectContaining(members));
}
