import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConnection, type Connection } from 'mysql2/promise';
import { Client } from 'pg';
import S3rver from 's3rver';
import { freePort, processFolder } from '../../../../../test/support/databases/process-resources.js';
import { unpackedProgram } from '../../../../../test/support/databases/debian-package.js';
import type { TestDatabase } from '../../../../../test/support/databases/start-databases.js';
import { type Command, output } from '../../../../../test/support/databases/local-server.js';
import {
  psql,
  redisCommand,
  startPostgresql,
  startRedis,
} from '../../../../../test/support/discovery/servers.js';
import { curl, type RealComponent } from './real-component.js';

const OPEN = 3;
const KEYS = 'S3RVER';
/** Header without which S3 rejects requests signed by Debian's curl. */
const NO_BODY = `x-amz-content-sha256: ${createHash('sha256').digest('hex')}`;

/** A MySQL or MariaDB server with idle connections, verified with the command-line client. */
export async function sqlStore(key: string, database: TestDatabase): Promise<RealComponent> {
  const others: Connection[] = [];
  const { username, password, port } = new URL(database.url);
  const endpoint = `${database.kind}://127.0.0.1:${port}`;
  const connect = async (): Promise<void> => {
    for (let index = 0; index < OPEN; index += 1) {
      const connection = await createConnection({ uri: database.url });
      connection.on('error', () => undefined);
      others.push(connection);
    }
  };
  await connect();
  return {
    key,
    map: 'infrastructure',
    declared: { kind: 'mysql', endpoint, username, password },
    truth: async () => {
      const text = await sql(
        database.url,
        "SELECT SUBSTRING_INDEX(VERSION(), '-', 1); SELECT @@max_connections; SHOW GLOBAL STATUS LIKE 'Threads_connected';",
      );
      const [version, max, connected] = text.split('\n').map((line) => line.split('\t').at(-1) ?? '');
      // The server counts the client's own connection.
      const connections = { active: 0, idle: Number(connected) - 1, max: Number(max) };
      return { type: database.kind, version: String(version), connections };
    },
    stop: () => database.kill('SIGTERM'),
    start: async () => {
      others.splice(0).forEach((each) => each.destroy());
      await database.restart();
      await connect();
    },
    end: async () => {
      others.splice(0).forEach((each) => each.destroy());
      await database.stop();
    },
  };
}

/** Runs statements with the MariaDB client, which also works with MySQL. Returns the rows without headers. */
async function sql(url: string, statements: string): Promise<string> {
  const { hostname, port, username, password } = new URL(url);
  const account = [`--host=${hostname}`, `--port=${port}`, `--user=${username}`];
  const command = await mariadbClient();
  return output(
    [...command, ...account, '--protocol=tcp', '--batch', '--skip-column-names', '-e', statements],
    {
      MYSQL_PWD: password,
    },
  );
}

async function mariadbClient(): Promise<Command> {
  if (existsSync('/usr/bin/mariadb')) {
    return ['/usr/bin/mariadb', '--no-defaults'];
  }
  const { root, command } = await unpackedProgram('bookworm', 'mariadb-client-core', '/usr/bin/mariadb');
  // The client's plugins, including MySQL authentication, are next to its libraries.
  const libraries = (command[2] ?? '')
    .split(':')
    .find((path) => existsSync(join(path, 'libmariadb3/plugin')));
  return [...command, '--no-defaults', `--plugin-dir=${join(libraries ?? root, 'libmariadb3/plugin')}`];
}

/** PostgreSQL with idle connections, verified with psql. */
export async function postgresqlStore(): Promise<RealComponent> {
  const { server, port, endpoint } = await startPostgresql();
  const others: Client[] = [];
  const connect = async (): Promise<void> => {
    for (let index = 0; index < OPEN; index += 1) {
      const client = new Client(`postgresql://admin:admin@127.0.0.1:${port}/postgres`);
      client.on('error', () => undefined);
      await client.connect();
      others.push(client);
    }
  };
  await connect();
  return {
    key: 'orders',
    map: 'infrastructure',
    declared: { kind: 'postgresql', endpoint, username: 'probe', password: 'canary-probe' },
    truth: async () => {
      const counts = `count(*) FILTER (WHERE state = 'active'), count(*) FILTER (WHERE state = 'idle')`;
      const row = await psql(
        port,
        `SELECT ${counts}, current_setting('max_connections'), current_setting('server_version')
           FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`,
      );
      const [active, idle, max, version = ''] = row.split('|');
      const connections = { active: Number(active), idle: Number(idle), max: Number(max) };
      return { type: 'postgresql', version: version.split(' ')[0] ?? '', connections };
    },
    stop: () => server.kill(),
    start: async () => {
      others.splice(0);
      await server.restart();
      await connect();
    },
    end: () => server.stop(),
  };
}

/** Redis, verified with redis-cli. */
export async function redisStore(): Promise<RealComponent> {
  const { server, port, endpoint } = await startRedis();
  return {
    key: 'sessions',
    map: 'infrastructure',
    declared: { kind: 'redis', endpoint, username: 'probe', password: 'canary-probe' },
    truth: async ({ memory }) => {
      const info = await redisCommand(port, 'INFO');
      const number = (name: string): number => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1]);
      const version = /redis_version:(\S+)/.exec(info)?.[1] ?? '';
      const [used, available] = [number('used_memory'), number('maxmemory') - number('used_memory')];
      // Connection buffers count, so two measurements are never identical.
      const isSame = near(memory?.used, used) && near(memory?.available, available);
      const seen = { used: `${used} bytes`, available: `${available} bytes` };
      return { type: 'redis', version, memory: isSame && memory !== undefined ? memory : seen };
    },
    stop: () => server.kill(),
    start: () => server.restart(),
    end: () => server.stop(),
  };
}

/** Returns whether a size such as `943.8KB` and a number of bytes differ by less than 200 kB. */
function near(text: string | undefined, bytes: number): boolean {
  const [, number, unit = ''] = /^([\d.]+)([KMG]?)B$/.exec(text ?? '') ?? [];
  const factor = { '': 1, K: 1_024, M: 1_048_576, G: 1_073_741_824 }[unit] ?? Number.NaN;
  return Math.abs(Number(number) * factor - bytes) < 200_000;
}

/** S3 storage with two buckets, verified with signed curl requests. */
export async function s3Store(): Promise<RealComponent> {
  const directory = await processFolder(join(tmpdir(), 'svc-s3'));
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  let server: S3rver;
  const start = async (): Promise<void> => {
    const configureBuckets = ['invoices', 'letters'].map((name) => ({ name }));
    server = new S3rver({ port, address: '127.0.0.1', silent: true, directory, configureBuckets });
    await server.run();
  };
  await start();
  return {
    key: 'documents',
    map: 'externalIntegrations',
    declared: { kind: 's3', endpoint, username: KEYS, password: KEYS },
    truth: async () => {
      const account = ['--aws-sigv4', 'aws:amz:us-east-1:s3', '--user', `${KEYS}:${KEYS}`];
      const body = await curl(...account, '--header', NO_BODY, endpoint);
      return { buckets: body.split('<Bucket>').length - 1 };
    },
    stop: () => server.close(),
    start,
    end: async () => {
      await server.close().catch(() => undefined);
      await rm(directory, { recursive: true, force: true });
    },
  };
}
