import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort, isListening } from '../databases/process-resources.js';
import { type ProgramTreePlan, unpackedTree } from '../databases/debian-package.js';
import { asNobody, type Command, LocalServer, output, programOf } from '../databases/local-server.js';

const POSTGRESQL: ProgramTreePlan = {
  suite: 'bookworm',
  packageNames: ['postgresql-15'],
  program: '/usr/lib/postgresql/15/bin/postgres',
  folders: ['/usr/lib/postgresql/15/bin'],
  runsAsOtherUser: true,
};
const ERLANG = '/usr/lib/erlang/erts-13.1.5/bin';
const RABBITMQ: ProgramTreePlan = {
  suite: 'bookworm',
  packageNames: ['rabbitmq-server', 'erlang-base'],
  program: '/usr/lib/rabbitmq/bin/rabbitmq-server',
  folders: [ERLANG],
};

/** Returns the folder that corresponds to `/` in packages: the host's if they are installed, or one in the cache. */
async function rootOf(plan: ProgramTreePlan): Promise<string> {
  return existsSync(plan.program) ? '/' : unpackedTree(plan);
}

/** A server and the address for its probe. */
export interface ProbedServer {
  server: LocalServer;
  endpoint: string;
  port: number;
}

/** Starts PostgreSQL 15 with the accounts probe (pg_monitor) and plain (no privileges), password `canary-<name>`. */
export async function startPostgresql(): Promise<ProbedServer> {
  const program = join(await rootOf(POSTGRESQL), POSTGRESQL.program);
  const port = await freePort();
  const server = await LocalServer.start({
    name: 'postgresql',
    refusesRoot: true,
    prepare: async (folder) => {
      const data = join(folder, 'data');
      const initdb = [
        '--no-sync',
        '--locale=C',
        '--encoding=UTF8',
        '--auth=scram-sha-256',
        '--username=admin',
        `--pgdata=${data}`,
      ];
      const passwordFile = join(folder, 'password');
      await writeFile(passwordFile, 'admin', { mode: 0o644 });
      const [file, ...args] = [
        ...asNobody(),
        join(dirname(program), 'initdb'),
        ...initdb,
        `--pwfile=${passwordFile}`,
      ];
      await output([file, ...args]);
    },
    command: (folder) => [
      program,
      '-D',
      join(folder, 'data'),
      '--unix_socket_directories=',
      `--port=${port}`,
      '--listen_addresses=127.0.0.1',
      '--max_connections=20',
      '--fsync=off',
    ],
    isReady: async () => (await psql(port, 'SELECT 1')) === '1',
  });
  await psql(
    port,
    "CREATE ROLE probe LOGIN PASSWORD 'canary-probe' IN ROLE pg_monitor; CREATE ROLE plain LOGIN PASSWORD 'canary-plain'",
  );
  return { server, port, endpoint: `postgresql://127.0.0.1:${port}/postgres` };
}

/** Runs SQL as administrator with psql. Returns the rows, with columns separated by |. */
export async function psql(port: number, sql: string): Promise<string> {
  const command: Command = [
    join(await rootOf(POSTGRESQL), dirname(POSTGRESQL.program), 'psql'),
    `postgresql://admin@127.0.0.1:${port}/postgres`,
    '-Atqc',
    sql,
  ];
  return output(command, { PGPASSWORD: 'admin' });
}

/**
 * Starts Redis with 64 MB and an account `probe` that may run only INFO, password `canary-probe`.
 * @param settings more lines of its configuration
 */
export async function startRedis(...settings: string[]): Promise<ProbedServer> {
  const program = await programOf('/usr/bin/redis-server', 'redis-server');
  const port = await freePort();
  const server = await LocalServer.start({
    name: 'redis',
    prepare: (folder) =>
      writeFile(
        join(folder, 'redis.conf'),
        [
          `port ${port}`,
          'bind 127.0.0.1',
          'save ""',
          'maxmemory 64mb',
          'user default on >admin ~* &* +@all',
          'user probe on >canary-probe -@all +info',
          'user blind on >canary-blind -@all +ping',
          ...settings,
        ].join('\n'),
      ),
    command: (folder) => [...program, join(folder, 'redis.conf')],
    isReady: () => isListening(port),
  });
  return { server, port, endpoint: `redis://127.0.0.1:${port}` };
}

/** Runs a Redis command as administrator. Returns a list as lines, as redis-cli prints it. */
export async function redisCommand(port: number, ...command: string[]): Promise<string> {
  const [name = '', ...args] = command;
  const client = new Redis({ host: '127.0.0.1', port, password: 'admin' });
  try {
    const answer = await client.call(name, ...args);
    return Array.isArray(answer) ? answer.join('\n') : String(answer);
  } finally {
    client.disconnect();
  }
}

/** Starts a NATS server with JetStream and its monitoring port. */
export async function startNats(): Promise<ProbedServer & { clientPort: number }> {
  const program = await programOf('/usr/sbin/nats-server', 'nats-server');
  const [port, clientPort] = [await freePort(), await freePort()];
  const server = await LocalServer.start({
    name: 'nats',
    command: (folder) => [
      ...program,
      '--addr=127.0.0.1',
      `--port=${clientPort}`,
      `--http_port=${port}`,
      '--jetstream',
      `--store_dir=${folder}`,
    ],
    isReady: async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).ok,
  });
  return { server, port, clientPort, endpoint: `http://127.0.0.1:${port}` };
}

/** A RabbitMQ node with its management interface and its port mapper (epmd). */
export interface RabbitServer extends ProbedServer {
  amqpPort: number;
  /** Runs rabbitmqctl on the node. */
  control(...args: string[]): Promise<string>;
  stop(): Promise<void>;
}

/**
 * Starts RabbitMQ with the accounts probe (tag monitoring, sees the virtual host) and plain (tag management), password
 * `canary-<name>`.
 */
export async function startRabbitmq(): Promise<RabbitServer> {
  const root = await rootOf(RABBITMQ);
  const program = join(root, RABBITMQ.program);
  const epmdPort = await freePort();
  const [port, amqpPort, distributionPort] = [await freePort(), await freePort(), await freePort()];
  const environmentOf = (folder: string): Record<string, string> => ({
    HOME: folder,
    PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}`,
    RABBITMQ_NODENAME: 'probed@localhost',
    // Makes the script exec the node, so that signals reach the node.
    RABBITMQ_ALLOW_INPUT: '1',
    RABBITMQ_CONF_ENV_FILE: join(folder, 'absent'),
    RABBITMQ_CONFIG_FILE: join(folder, 'rabbitmq.conf'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'plugins'),
    RABBITMQ_MNESIA_BASE: join(folder, 'mnesia'),
    RABBITMQ_LOG_BASE: join(folder, 'log'),
    RABBITMQ_DIST_PORT: String(distributionPort),
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '+S 1:1 +sbwt none',
    ERL_EPMD_PORT: String(epmdPort),
    ERL_EPMD_ADDRESS: '127.0.0.1',
  });
  const epmd = await LocalServer.start({
    name: 'epmd',
    command: () => [join(root, ERLANG, 'epmd'), '-address', '127.0.0.1', '-port', String(epmdPort)],
    isReady: () => isListening(epmdPort),
  });
  const server = await LocalServer.start({
    name: 'rabbitmq',
    prepare: async (folder) => {
      await writeFile(join(folder, 'erl'), erlangCommand(root), { mode: 0o755 });
      await writeFile(join(folder, 'plugins'), '[rabbitmq_management].\n');
      await writeFile(
        join(folder, 'rabbitmq.conf'),
        [
          `listeners.tcp.1 = 127.0.0.1:${amqpPort}`,
          `management.tcp.ip = 127.0.0.1`,
          `management.tcp.port = ${port}`,
          'disk_free_limit.absolute = 1MB',
          'default_pass = admin',
          'default_user = admin',
        ].join('\n'),
      );
    },
    command: () => [program],
    environment: environmentOf,
    isReady: async () =>
      (await isListening(amqpPort)) && (await fetch(`http://127.0.0.1:${port}/`)).status < 500,
  });
  await addAccounts(port);
  return {
    server,
    port,
    amqpPort,
    endpoint: `http://127.0.0.1:${port}`,
    control: (...args) =>
      output([join(dirname(program), 'rabbitmqctl'), '--quiet', ...args], environmentOf(server.folder)),
    stop: async () => {
      await server.stop();
      await epmd.stop();
    },
  };
}

/** Returns a replacement for the `erl` script of the Debian package, whose paths are fixed. */
function erlangCommand(root: string): string {
  const variables = [`ROOTDIR='${join(root, '/usr/lib/erlang')}'`, `BINDIR='${join(root, ERLANG)}'`];
  return `#!/bin/sh\nexport ${variables.join(' ')} EMU=beam PROGNAME=erl\nexec "$BINDIR/erlexec" "$@"\n`;
}

/** Calls the management interface as administrator. */
export async function manageRabbitmq(
  port: number,
  method: string,
  path: string,
  body: unknown,
): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/api${path}`, {
    method,
    body: JSON.stringify(body),
    headers: { authorization: `Basic ${Buffer.from('admin:admin').toString('base64')}` },
  });
  if (!response.ok) {
    throw new Error(`${method} ${path}: ${response.status}`);
  }
}

async function addAccounts(port: number): Promise<void> {
  await manageRabbitmq(port, 'PUT', '/users/probe', { password: 'canary-probe', tags: 'monitoring' });
  // Grants no access to any resource, but makes the virtual host visible.
  await manageRabbitmq(port, 'PUT', '/permissions/%2F/probe', { configure: '', write: '', read: '' });
  await manageRabbitmq(port, 'PUT', '/users/plain', { password: 'canary-plain', tags: 'management' });
}

/** A mock Kafka cluster with three brokers, run by librdkafka inside a kcat producer that stays open. */
export interface KafkaMock {
  server: LocalServer;
  /** host:port of each broker. */
  brokers: string[];
  /** Returns the metadata of the cluster (`kcat -L`). */
  metadata(): Promise<{ brokers: unknown[]; topics: { topic: string }[] }>;
}

/** Starts a mock cluster with one topic. */
export async function startKafkaMock(topic: string): Promise<KafkaMock> {
  const kcat = await programOf('/usr/bin/kcat', 'kcat');
  const server = await LocalServer.start({
    name: 'kafka',
    input: 'one\n',
    command: () => [
      ...kcat,
      '-P',
      '-dmock',
      '-bunused',
      `-t${topic}`,
      '-Xtest.mock.num.brokers=3',
      '-Xlinger.ms=0',
    ],
    isReady: () => Promise.resolve(true),
  });
  const brokers = await mockBrokers(server);
  return {
    server,
    brokers,
    metadata: async () => JSON.parse(await output([...kcat, '-L', '-J', '-b', brokers[0] ?? ''])) as never,
  };
}

async function mockBrokers(server: LocalServer): Promise<string[]> {
  for (let attempt = 0; attempt < 400; attempt += 1) {
    const brokers = [...new Set(server.output().match(/127\.0\.0\.1:\d+/g))];
    if (brokers.length >= 3) {
      return brokers.slice(0, 3);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`no brokers:\n${server.output().slice(-2_000)}`);
}
