import { Env } from '../../../src/platform/config/env.js';
import { PackagesService } from '../../../src/delivery/packages/packages.service.js';
import { ProcessCompiler } from '#engine/definitions';
import { limitedEnv } from '../../support/limits/limits.js';

/** A package in which everything is right and little is in it; every call gives a new one. */
export function packageDocument(parts: Record<string, unknown> = {}): Record<string, unknown> {
  return { application: application(), systems: [], workflows: [], processes: [], ...parts };
}

/** application.json with members of a test. */
export function application(members: Record<string, unknown> = {}): Record<string, unknown> {
  return { formatVersion: 1, appId: 'loans', name: 'Loans', ...members };
}

/** An MCP system with members of a test. */
export function system(members: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    resourceName: 'core_tools',
    name: 'Core tools',
    type: 'MCP',
    baseUrl: 'https://mcp.example.com/mcp',
    authorization: { type: 'NO_AUTH' },
    ...members,
  };
}

/** A node with members of a test; it goes on to the nodes of these ids. */
export function node(
  id: string,
  type: string,
  next: string[] = [],
  members: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    id,
    type,
    name: id,
    outgoingSequences: next.map((target) => ({
      id: `${id}-${target}`,
      sourceNodeId: id,
      targetNodeId: target,
    })),
    ...members,
  };
}

/** A workflow: START, the nodes given, END. */
export function workflow(
  nodes: Record<string, unknown>[] = [node('start', 'START', ['end'])],
  members: Record<string, unknown> = {},
): Record<string, unknown> {
  return { name: 'rate', nodes: [...nodes, node('end', 'END')], ...members };
}

/** Settings with those of a test. */
export function settings(values: Record<string, string> = {}): Env {
  return limitedEnv('maintenance', values);
}

/** Reads and checks packages, whose BPMN files it takes for empty ones. */
export function withoutProcesses(values?: Record<string, string>): PackagesService {
  const compiler = new ProcessCompiler();
  compiler.compile = async () => ({ definitions: [], readable: [], problems: [], unlessCalled: new Map() });
  return Object.assign(new PackagesService(settings(values)), { compiler });
}
