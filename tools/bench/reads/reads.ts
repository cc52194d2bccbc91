import { ApiClient, APP, VERSION } from '../../proofs/support/api-client.js';
import type { ProofEnvironment } from '../../proofs/support/proof-environment.js';
import type { TestDatabase } from '../../../test/support/databases/start-databases.js';
import { sendResult, startScriptedMcp } from '../../../test/support/peers/scripted-mcp.peer.js';
import { load, type Load } from '../load.js';
import { startServer } from '../server-process.js';
import { MEASURED_SERVICE } from '../service-settings.js';
import { countQuestions, recordStatements } from '../statements.js';
import { figure, median, printTable } from '../table.js';

const CONNECTIONS = 16;
const POOL_SIZE = 20;
const TOOLS = 20;
const SYSTEMS = 200;
const MANY_TOOLS = 1_000;
const BARE = 'node:http + mysql2';
const WITH_TAG = 'service, If-None-Match';

/** Extent of the measurement. */
export interface ReadBenchOptions {
  mysql: TestDatabase;
  rounds: number;
  /** Duration per server in a round. */
  seconds: number;
}

/**
 * Measures the synchronization of many tools, then get-by-id (also with a matching If-None-Match) and a list, against
 * servers that return the same responses. Prints figures without judging them.
 */
export async function benchReads(
  environment: ProofEnvironment,
  { mysql, rounds, seconds }: ReadBenchOptions,
): Promise<void> {
  const options = { seconds, connections: CONNECTIONS };
  const databaseUrl = await environment.emptyDatabase();
  const service = await environment.startService(databaseUrl, {
    ...MEASURED_SERVICE,
    EGRESS_ALLOW: '127.0.0.1',
  });
  const token = await environment.token();
  const client = new ApiClient(service.url, token);
  console.log(
    `MySQL ${mysql.version}, Node ${process.version}, ${CONNECTIONS} connections, ${rounds} rounds of ${seconds} s`,
  );

  await benchSynchronization(client);
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
    const { statements, result: body } = await recordStatements(mysql.url, read);
    bodies[name] = body;
    routes[path] = { statements, body };
    queries[name] = await queriesPerRequest(mysql.url, read);
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
    const etag = name === 'details' ? await repeatedTag(`${service.url}${path}`, token) : undefined;
    const serviceOptions = { ...options, pid: service.pid, token };
    const results = await compare(
      `${title}: ${bodies[name]!.length} bytes, ${queries[name]} queries per request`,
      {
        service: () => load(`${service.url}${path}`, serviceOptions),
        ...(etag !== undefined && {
          [WITH_TAG]: () => load(`${service.url}${path}`, { ...serviceOptions, etag }),
        }),
        [BARE]: () => load(`${bare.url}${path}`, { ...options, pid: bare.pid }),
        'constant Nest route': () => load(`${nest.url}/${name}`, { ...options, pid: nest.pid }),
      },
      rounds,
    );
    if (name === 'details') {
      console.log(
        etag === undefined
          ? 'If-None-Match: no 304 response'
          : `If-None-Match, answered with 304: ${figure(ratioOf(results[WITH_TAG], results[BARE]), 2)} of the requests per second of ${BARE} with its full response`,
      );
    }
  }
  bare.stop();
  nest.stop();
  await client.close();
}

/** Measures servers alternately in each round and prints a table. The first one is the service. */
async function compare(
  title: string,
  servers: Record<string, () => Promise<Load>>,
  rounds: number,
): Promise<Record<string, Load[]>> {
  const results: Record<string, Load[]> = {};
  await Promise.all(Object.values(servers).map((run) => run())); // warm-up
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, run] of Object.entries(servers)) {
      (results[name] ??= []).push(await run());
    }
  }
  const [subject = []] = Object.values(results);
  printTable(
    title,
    ['server', 'requests/s', 'p50 ms', 'p99 ms', 'CPU µs', 'service / peer'],
    Object.entries(results).map(([name, loads]) => {
      const middle = (key: keyof Load, digits: number): string =>
        figure(median(loads.map((one) => one[key])), digits);
      return [
        name,
        middle('requestsPerSecond', 0),
        middle('p50', 1),
        middle('p99', 1),
        middle('cpuMicros', 0),
        figure(ratioOf(subject, loads), 2),
      ];
    }),
  );
  return results;
}

/** Returns the median ratio of requests per second of one server to another, within each round. */
function ratioOf(one: readonly Load[] = [], other: readonly Load[] = []): number {
  return median(
    other.map(
      ({ requestsPerSecond }, round) => (one[round]?.requestsPerSecond ?? Number.NaN) / requestsPerSecond,
    ),
  );
}

/** Returns the ETag of a response if the service answers a repeated request with 304. */
async function repeatedTag(url: string, token: string): Promise<string | undefined> {
  const headers = { authorization: `Bearer ${token}` };
  const etag = (await fetch(url, { headers })).headers.get('etag');
  if (etag === null) {
    return undefined;
  }
  const { status } = await fetch(url, { headers: { ...headers, 'if-none-match': etag } });
  return status === 304 ? etag : undefined;
}

async function queriesPerRequest(serverUrl: string, read: () => Promise<unknown>): Promise<number> {
  const requests = 50;
  const before = await countQuestions(serverUrl);
  const idle = (await countQuestions(serverUrl)) - before;
  const start = await countQuestions(serverUrl);
  for (let count = 0; count < requests; count += 1) {
    await read();
  }
  return ((await countQuestions(serverUrl)) - start - idle) / requests;
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

/** Measures three synchronizations of a thousand tools: all new, all changed, none changed. */
async function benchSynchronization(client: ApiClient): Promise<void> {
  let text = 'first';
  const list = (): object[] => Array.from({ length: MANY_TOOLS }, (_, index) => definition(index, text));
  const peer = await startScriptedMcp({
    list: ({ id, response }) => sendResult(response, id, { tools: list() }),
  });
  await client.testConnection(peer.url); // start the worker
  await client.create('bench-sync', { baseUrl: peer.url });
  console.log(`\nsynchronization of ${MANY_TOOLS} tools, each in one transaction`);
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
      `${name.padEnd(14)}${total.toFixed(0).padStart(6)} ms in total: ${talking} ms talking to the MCP server, ${(total - talking).toFixed(0)} ms comparing and storing`,
    );
  }
  await peer.close();
}

/** Returns a tool of typical size: about 600 bytes of schema. */
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
