import { isDeepStrictEqual } from 'node:util';

import { startEvaluation } from '../../support/evaluation-service.js';
import { doNumbered } from '../../../tools/proofs/support/proof.js';
import type { Tally } from '../../../tools/scripts/tally.js';
import { installed, PACKAGE_SETS, type PackageSetName } from './install.js';
import {
  type CallAnswer,
  type ListedTool,
  type ServersView,
  seenByOfficialClient,
} from './official-client.js';
import { SERVERS, type OtherServer } from './server-list.js';
import { ServiceClient, type ShownTool, type SystemIds } from './service-client.js';
import { startServer } from './start-server.js';

const AT_A_TIME = 3;
/** Servers start, and are asked, on a machine that does other work too. */
const PATIENCE_MS = '60000';
const SETTINGS = {
  TOOL_CALLS: 'true',
  'outboundLimits.threadNiceness': '0',
  'mcpLimits.testTimeoutMs': PATIENCE_MS,
  'mcpCallLimits.connectTimeoutMs': PATIENCE_MS,
  'mcpCallLimits.defaultTimeoutMs': PATIENCE_MS,
};

/**
 * Takes servers that others wrote through the service: registers, tests, calls and switches, and holds the outcome against what the
 * official client sees of them.
 */
export async function checkServers(names = Object.keys(SERVERS)): Promise<Tally> {
  const tally: Tally = { passed: 0, failed: 0, skipped: 0 };
  const folders = await installAll(names, tally);
  const service = await startEvaluation(SETTINGS);
  try {
    const client = new ServiceClient(service.url, await service.token());
    const checked = names.filter((name) => folders.has(serverOf(name).packages));
    await doNumbered(checked.length, AT_A_TIME, async (index) => {
      const name = checked[index] ?? '';
      const server = serverOf(name);
      const problems = await problemsOf(client, index, server, folders.get(server.packages) ?? '');
      report(name, problems, tally);
    });
  } finally {
    await service.stop();
  }
  return tally;
}

function serverOf(name: string): OtherServer {
  const server = SERVERS[name];
  if (server === undefined) {
    throw new Error(`There is no server "${name}": ${Object.keys(SERVERS).join(', ')}`);
  }
  return server;
}

/** A set that cannot be had is skipped with a line, and is a failure where CI is set. */
async function installAll(names: string[], tally: Tally): Promise<Map<PackageSetName, string>> {
  const folders = new Map<PackageSetName, string>();
  const needed = new Set(names.map((name) => serverOf(name).packages));
  for (const set of Object.keys(PACKAGE_SETS) as PackageSetName[]) {
    if (!needed.has(set)) {
      continue;
    }
    try {
      folders.set(set, await installed(set));
    } catch (error) {
      const isFailure = process.env['CI'] !== undefined;
      const line = String(error).split('\n').filter(Boolean).slice(0, 3).join(' | ');
      console.log(`${isFailure ? 'FAIL ' : 'skip '} servers of ${set}: not installed: ${line}`);
      tally[isFailure ? 'failed' : 'skipped'] += 1;
    }
  }
  return folders;
}

function report(name: string, problems: string[], tally: Tally): void {
  const isEqual = problems.length === 0;
  tally[isEqual ? 'passed' : 'failed'] += 1;
  console.log(`${isEqual ? 'ok   ' : 'FAIL '} ${name}`);
  problems.forEach((problem) => console.log(`        ${problem}`));
}

async function problemsOf(
  client: ServiceClient,
  index: number,
  server: OtherServer,
  folder: string,
): Promise<string[]> {
  const running = await startServer(server, folder);
  if (typeof running === 'string') {
    return [running];
  }
  try {
    const expected = await seenByOfficialClient(running.url, server.isSse === true, server.calls);
    return await differences(client, { name: `server_${index}`, url: running.url }, server, expected);
  } catch (error) {
    return [`${String(error)}; the server said: ${running.output().slice(-1_000)}`];
  } finally {
    await running.stop();
  }
}

async function differences(
  client: ServiceClient,
  { name, url }: { name: string; url: string },
  { calls, changing }: OtherServer,
  expected: ServersView,
): Promise<string[]> {
  const system = await client.register(name, url);
  const test = await client.test(system);
  if (test.status !== 200) {
    return [`the test fails: ${test.message} ${test.details ?? ''}`];
  }
  const problems = test.rejectedTools.map((tool) => `rejected: ${JSON.stringify(tool)}`);
  const tools = await client.tools(system);
  problems.push(...listDifferences(tools, expected.tools));
  for (const [index, [toolName, args]] of calls.entries()) {
    const tool = tools.find((one) => one.name === toolName);
    const wanted = expected.answers[index];
    if (tool === undefined || wanted === undefined) {
      problems.push(`${toolName} is not listed`);
      continue;
    }
    const answer = await client.call(system, tool.id, args);
    if (!isAlike(answer, wanted, changing)) {
      problems.push(`${toolName} answers ${JSON.stringify(answer)}\n   instead of ${JSON.stringify(wanted)}`);
    }
  }
  return [...problems, ...(await switchDifferences(client, system, tools))];
}

/** What the service refuses by the schema is to be an error at the server too. */
function isAlike(answer: CallAnswer, wanted: CallAnswer, changing: RegExp | undefined): boolean {
  if (answer.outcome === 'REFUSED') {
    return wanted.outcome !== 'OK';
  }
  const [one, other] = [answer, wanted].map((value) =>
    changing === undefined ? value : JSON.stringify(value).replaceAll(changing, '#'),
  );
  return isDeepStrictEqual(one, other);
}

function listDifferences(tools: ShownTool[], expected: ListedTool[]): string[] {
  const shown = tools.map(({ id: _id, enabled: _enabled, ...tool }) => tool);
  if (!isDeepStrictEqual(namesOf(shown), namesOf(expected))) {
    return [`lists ${namesOf(shown).join()} instead of ${namesOf(expected).join()}`];
  }
  const problems = shown.flatMap((tool, index) =>
    isDeepStrictEqual(tool, expected[index])
      ? []
      : [`shows ${JSON.stringify(tool)}\n   instead of ${JSON.stringify(expected[index])}`],
  );
  return tools.every(({ enabled }) => enabled)
    ? problems
    : [...problems, 'the first list is not all enabled'];
}

/** A tool that is switched off is not called, and stays off and the same when the server is tested again. */
async function switchDifferences(
  client: ServiceClient,
  system: SystemIds,
  tools: ShownTool[],
): Promise<string[]> {
  const [first] = tools;
  if (first === undefined) {
    return [];
  }
  await client.switchOff(system, first.id);
  const { outcome } = await client.call(system, first.id, {});
  await client.test(system);
  const after = await client.tools(system);
  const expected = tools.map((tool) => (tool === first ? { ...tool, enabled: false } : tool));
  return [
    ...(outcome === 'DISABLED' ? [] : [`a tool that is off is called: ${outcome}`]),
    ...(isDeepStrictEqual(after, expected) ? [] : ['another test changes what is stored']),
  ];
}

function namesOf(tools: { name: string }[]): string[] {
  return tools.map(({ name }) => name);
}
