import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ApiClient, APP, VERSION } from '../test/prove/support/api-client.js';
import { ProofEnvironment } from '../test/prove/support/proof-environment.js';
import { startDatabases } from '../test/support/databases/start-databases.js';
import { sendResult, startScriptedMcp } from '../test/support/peers/scripted-mcp.peer.js';
import { benchDiscovery } from './discovery/discovery.js';
import { load, median, type Load } from './load.js';
import { benchProcesses } from './processes/processes.js';
import { startServer } from './server-process.js';
import { countQuestions, recordStatements } from './statements.js';
import { benchToolCalls } from './tool-calls/tool-calls.js';

/**
 * Measures the read paths and the synchronisation on MySQL against baselines in the same run.
 *
 *     npm run bench [-- --short] [reads] [processes] [discovery] [tool-calls]
 *
 * The servers take turns, round by round, so that a machine whose speed drifts hurts all of them alike; ratios are taken
 * within a round. It prints figures and judges none.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { short: { type: 'boolean', default: false } },
});
const isWanted = (name: string): boolean => positionals.length === 0 || positionals.includes(name);
/** A short run shows that everything can be measured, and every figure once. */
const ROUNDS = values.short ? 1 : 7;
const SECONDS = values.short ? 1 : 5;
const CONNECTIONS = 16;
const LOAD = { seconds: SECONDS, connections: CONNECTIONS };
const POOL_SIZE = 10;
const TOOLS = 20;
const SYSTEMS = 200;
const MANY_TOOLS = 1_000;
const HIGH_LIMIT = '1000000';

const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'));
const { databases, missing } = await startDatabases(['mysql']);
const [mysql] = databases;
if (mysql === undefined) {
  throw new Error(`MySQL is needed: ${missing.map(({ reason }) => reason).join()}`);
}
const environment = await ProofEnvironment.create('mysql', { short: values.short, server: mysql, folder });
try {
  if (isWanted('reads')) {
    await benchReads();
  }
  if (isWanted('processes')) {
    await benchProcesses(environment, {
      serverUrl: mysql.url,
      ...(values.short
        ? { rounds: 1, starts: 100, waiting: 250 }
        : { rounds: 7, starts: 2_000, waiting: 10_000 }),
    });
  }
  if (isWanted('discovery')) {
    await benchDiscovery(environment, { folder, rounds: values.short ? 1 : 10 });
  }
  if (isWanted('tool-calls')) {
    await benchToolCalls({ rounds: ROUNDS, seconds: values.short ? 0.5 : SECONDS });
  }
} finally {
  await environment.end();
  await mysql.stop();
  await rm(folder, { recursive: true, force: true });
}

async function benchReads(): Promise<void> {
  const databaseUrl = await environment.emptyDatabase();
  const service = await environment.startService(databaseUrl, {
    LOG_LEVEL: 'info',
    EGRESS_ALLOW: '127.0.0.1',
    // High enough never to refuse, and still counted: the limiters are part of what is measured.
    RATE_LIMIT_ADDRESS_PER_MINUTE: HIGH_LIMIT,
    RATE_LIMIT_PRINCIPAL_PER_MINUTE: HIGH_LIMIT,
    HTTP_CALLER_REQUESTS: '1000000',
    HTTP_CALLER_AT_WORK: '1000000',
  });
  const token = await environment.token();
  const client = new ApiClient(service.url, token);
  console.log(
    `MySQL ${mysql!.version}, Node ${process.version}, ${CONNECTIONS} connections, ${ROUNDS} rounds of ${SECONDS} s`,
  );

  await benchSynchronisation(client);
  const details = await seedDetails(client);
  await seedList(client);
  const paths = { details, list: listPath() };
  const routes: Record<string, { statements: string[]; body: string }> = {};
  const bodies: Record<string, string> = {};
  const queries: Record<string, number> = {};
  for (const [name, path] of Object.entries(paths)) {
    const read = async (): Promise<string> =>
      (await fetch(`${service.url}${path}`, { headers: { authorization: `Bearer ${token}` } })).text();
    await read();
    bodies[name] = await read();
    routes[path] = { statements: await recordStatements(mysql!.url, '', read), body: bodies[name] };
    queries[name] = await queriesPerRequest(read);
  }
  const [bare, nest] = await Promise.all([
    startServer('bare', {
      BARE: JSON.stringify({
        databaseUrl: databaseUrl.replace(/^mariadb:/, 'mysql:'),
        poolSize: POOL_SIZE,
        routes,
      }),
    }),
    startServer('nest', { BODIES: JSON.stringify(bodies) }),
  ]);
  for (const [name, path] of Object.entries(paths)) {
    const title = name === 'details' ? `get-by-id with ${TOOLS} tools` : `all/info with ${SYSTEMS} systems`;
    console.log(`\n${title}: ${bodies[name]!.length} bytes, ${queries[name]} queries per request`);
    await compare({
      service: () => load(`${service.url}${path}`, { ...LOAD, pid: service.pid, token }),
      'node:http + mysql2': () => load(`${bare.url}${path}`, { ...LOAD, pid: bare.pid }),
      'constant Nest route': () => load(`${nest.url}/${name}`, { ...LOAD, pid: nest.pid }),
    });
  }
  bare.stop();
  nest.stop();
  await client.close();
}

async function compare(servers: Record<string, () => Promise<Load>>): Promise<void> {
  const results: Record<string, Load[]> = {};
  await Promise.all(Object.values(servers).map((run) => run())); // warm-up
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, run] of Object.entries(servers)) {
      (results[name] ??= []).push(await run());
    }
  }
  console.log(row(['server', 'requests/s', 'p50 ms', 'p99 ms', 'CPU us/request', 'service / it']));
  const [subject = []] = Object.values(results);
  for (const [name, rounds] of Object.entries(results)) {
    const ratios = rounds.map(
      ({ requestsPerSecond }, index) => (subject[index]?.requestsPerSecond ?? 0) / requestsPerSecond,
    );
    const middle = (key: keyof Load, digits: number): string =>
      median(rounds.map((round) => round[key])).toFixed(digits);
    console.log(
      row([
        name,
        middle('requestsPerSecond', 0),
        middle('p50', 1),
        middle('p99', 1),
        middle('cpuMicros', 0),
        median(ratios).toFixed(2),
      ]),
    );
  }
}

function row([name = '', ...figures]: string[]): string {
  return name.padEnd(22) + figures.map((figure) => figure.padStart(16)).join('');
}

async function queriesPerRequest(read: () => Promise<unknown>): Promise<number> {
  const requests = 50;
  const before = await countQuestions(mysql!.url);
  const idle = (await countQuestions(mysql!.url)) - before;
  const start = await countQuestions(mysql!.url);
  for (let count = 0; count < requests; count += 1) {
    await read();
  }
  return ((await countQuestions(mysql!.url)) - start - idle) / requests;
}

async function seedDetails(client: ApiClient): Promise<string> {
  const tools = Array.from({ length: TOOLS }, (_, index) => definition(index, 'first'));
  const peer = await startScriptedMcp({ list: ({ id, response }) => sendResult(response, id, { tools }) });
  const { body } = await client.create('bench-details', { baseUrl: peer.url, description: 'Benchmark' });
  await client.testConnection(peer.url);
  await peer.close();
  return `/appmanager/api/resource/app/${APP}/app-version/${VERSION}/rt/system/ri/${String(body['resourceId'])}/integration/api/systems/getById`;
}

async function seedList(client: ApiClient): Promise<void> {
  const { body } = await client.list();
  for (let count = (body['systems'] as unknown[]).length; count < SYSTEMS; count += 1) {
    await client.create(`bench-${count}`, { description: 'One of two hundred systems of this version' });
  }
}

function listPath(): string {
  return `/appmanager/api/resource/app/${APP}/app-version/${VERSION}/rt/system/include-dep-res/integration/api/systems/all/info`;
}

/** Three synchronisations of a thousand tools: all new, all changed, none changed. */
async function benchSynchronisation(client: ApiClient): Promise<void> {
  let text = 'first';
  const list = (): object[] => Array.from({ length: MANY_TOOLS }, (_, index) => definition(index, text));
  const peer = await startScriptedMcp({
    list: ({ id, response }) => sendResult(response, id, { tools: list() }),
  });
  await client.testConnection(peer.url); // starts the worker
  await client.create('bench-sync', { baseUrl: peer.url });
  console.log(`\nsynchronisation of ${MANY_TOOLS} tools, each in one transaction`);
  for (const [name, next] of [
    ['all new', 'first'],
    ['all changed', 'second'],
    ['none changed', 'second'],
  ] as const) {
    text = next;
    const start = performance.now();
    const { body } = await client.testConnection(peer.url);
    const total = performance.now() - start;
    const talking = Number(body['latencyMs']);
    console.log(
      `${name.padEnd(14)}${total.toFixed(0).padStart(6)} ms in all, of it ${talking} ms with the MCP server, ${(total - talking).toFixed(0)} ms comparing and storing`,
    );
  }
  await peer.close();
}

/** A tool of usual size: about 600 bytes of schema. */
function definition(index: number, text: string): object {
  const properties = Object.fromEntries(
    ['query', 'limit', 'cursor', 'region', 'include'].map((name) => [
      name,
      {
        type: 'string',
        description: `The ${name} that the tool number ${index} works with, ${text} edition.`,
      },
    ]),
  );
  return {
    name: `tool-${index}`,
    description: `Looks things up in the catalogue number ${index} and answers what it finds.`,
    inputSchema: { type: 'object', properties, required: ['query'] },
  };
}
