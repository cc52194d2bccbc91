import { Env } from '../../../src/platform/config/env.js';
import { PackagesService } from '../../../src/delivery/packages/packages.service.js';
import { ProcessCompiler } from '#engine/definitions';
import { limitedEnv } from '../../support/limits/limits.js';

/** Returns a minimal valid package. */
export function packageDocument(parts: Record<string, unknown> = {}): Record<string, unknown> {
  return { application: application(), systems: [], workflows: [], processes: [], ...parts };
}

/** Returns application.json with these members overridden. */
export function application(members: Record<string, unknown> = {}): Record<string, unknown> {
  return { formatVersion: 1, appId: 'loans', name: 'Loans', ...members };
}

/** Returns an MCP system with these members overridden. */
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

/** Returns a node with sequences to the nodes `next`, and with these members overridden. */
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

/** Returns a workflow of these nodes, which should include a START, followed by an END. */
export function workflow(
  nodes: Record<string, unknown>[] = [node('start', 'START', ['end'])],
  members: Record<string, unknown> = {},
): Record<string, unknown> {
  return { name: 'rate', nodes: [...nodes, node('end', 'END')], ...members };
}

/** Returns the default settings with these values overridden. */
export function settings(values: Record<string, string> = {}): Env {
  return limitedEnv('maintenance', values);
}

/** Returns a service that reads and checks packages but ignores the content of BPMN files. */
export function withoutProcesses(values?: Record<string, string>): PackagesService {
  const compiler = new ProcessCompiler();
  compiler.compile = async () => ({ definitions: [], readable: [], problems: [], unlessCalled: new Map() });
  return Object.assign(new PackagesService(settings(values)), { compiler });
}
