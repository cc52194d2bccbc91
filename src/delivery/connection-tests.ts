import type { SvcClient } from '../../clients/typescript/src/index.js';
import { printable } from '../common/printable.js';

type Version = { appId: string; versionId: string };

/** What came of the test of one system. */
export interface TestedSystem {
  system: string;
  status: number;
  message: string;
}

const SUCCESS = 200;

/**
 * Tests the connections of the MCP systems of a version as they are stored, with secrets that the service gives to nobody, and so stores
 * the tools that are found.
 */
export async function testConnections(
  svc: SvcClient,
  version: Version,
  tell: (line: string) => void,
): Promise<TestedSystem[]> {
  const tested: TestedSystem[] = [];
  const { data: list } = await svc.listSystems({ path: version });
  for (const { name, resourceId } of list.systems.filter(({ type }) => type === 'MCP')) {
    tell(`testing the connection of ${printable(name)} …`);
    const { data } = await svc.testStoredConnection({ path: { ...version, systemResourceId: resourceId } });
    const { status, message, details, tools = [] } = data;
    const found = status === SUCCESS ? ` (${tools.length} tools)` : ` (${details ?? ''})`;
    tested.push({ system: name, status, message: `${message}${found}` });
  }
  return tested;
}

/** Whether no test failed. */
export function allPassed(tested: TestedSystem[]): boolean {
  return tested.every(({ status }) => status === SUCCESS);
}

/** What came of the test of a connection. */
export function connectionLine({ system, status, message }: TestedSystem): string {
  return printable(`connection ${system}: ${status} ${message}`);
}
