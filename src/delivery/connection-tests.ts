import type { SvcClient, SystemResponse } from '../../clients/typescript/src/index.js';
import { printable } from './delivery-lines.js';

type Version = { appId: string; versionId: string };

/** What came of the test of one system; `status` is null where it was not tested. */
export interface TestedSystem {
  system: string;
  status: number | null;
  message: string;
}

const SUCCESS = 200;
const NO_AUTH = { type: 'NO_AUTH' as const };

/** The MCP systems of a version, with their tools. */
export async function systemsOf(svc: SvcClient, version: Version): Promise<SystemResponse[]> {
  const { data } = await svc.listSystems({ path: version });
  const answers = data.systems
    .filter(({ type }) => type === 'MCP')
    .map(({ resourceId }) => svc.getSystem({ path: { ...version, systemResourceId: resourceId } }));
  return (await Promise.all(answers)).map((answer) => answer.data);
}

/**
 * Tests the connections of the MCP systems of a version that need neither a secret nor certificates, and so stores the tools that are
 * found. What the others need is with the service, which gives it to nobody.
 * @param tell is told what is under way
 * @returns what came of it, in the order of the systems
 */
export async function testConnections(
  svc: SvcClient,
  version: Version,
  tell: (line: string) => void,
): Promise<TestedSystem[]> {
  const tested: TestedSystem[] = [];
  for (const { name, baseUrl, authorization, tls } of await systemsOf(svc, version)) {
    if (authorization.type !== 'NO_AUTH' || tls !== undefined) {
      tested.push({ system: name, status: null, message: 'Not tested: it needs a secret or certificates.' });
      continue;
    }
    tell(`testing the connection of ${printable(name)} …`);
    const body = { baseUrl, authorization: NO_AUTH };
    const { data } = await svc.testMcpConnection({ path: version, body });
    const { status, message, details, tools = [] } = data;
    const found = status === SUCCESS ? ` (${tools.length} tools)` : ` (${details ?? ''})`;
    tested.push({ system: name, status, message: `${message}${found}` });
  }
  return tested;
}

/** Whether no test failed. */
export function allPassed(tested: TestedSystem[]): boolean {
  return tested.every(({ status }) => status === null || status === SUCCESS);
}

/** What came of the test of a connection. */
export function connectionLine({ system, status, message }: TestedSystem): string {
  return printable(`connection ${system}: ${status === null ? '' : `${status} `}${message}`);
}
