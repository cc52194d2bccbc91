import type { SvcClient } from '../../clients/typescript/src/index.js';
import type { Session } from './session.js';
import { printable, table } from './table.js';
import { systemsOf } from './tools-command.js';

/** What came of the test of one system; `status` is null where it was not tested. */
export interface TestedSystem {
  system: string;
  status: number | null;
  message: string;
}

const SUCCESS = 200;
const NO_AUTH = { type: 'NO_AUTH' as const };

/**
 * Tests the connections of the MCP systems of a version that need neither a secret nor certificates, and so stores the tools that are
 * found. What the others need is with the service, which gives it to nobody.
 * @returns what came of it, in the order of the systems
 */
export async function testConnections(
  session: Session,
  svc: SvcClient,
  version: { appId: string; versionId: string },
): Promise<TestedSystem[]> {
  const tested: TestedSystem[] = [];
  for (const { name, baseUrl, authorization, tls } of await systemsOf(svc, version)) {
    if (authorization.type !== 'NO_AUTH' || tls !== undefined) {
      tested.push({ system: name, status: null, message: 'Not tested: it needs a secret or certificates.' });
      continue;
    }
    session.tell(`testing the connection of ${printable(name)} …`);
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

/** What came of the tests, for people. */
export function testedLines(tested: TestedSystem[]): string[] {
  return tested.length === 0
    ? []
    : table(
        ['SYSTEM', 'STATUS', 'CONNECTION'],
        tested.map(({ system, status, message }) => [system, status, message]),
      );
}
