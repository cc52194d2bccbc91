import { spawn } from 'node:child_process';
import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { unpackedProgram } from '../../../test/support/databases/debian-package.js';
import type { ServerKind } from '../../../test/support/databases/server-program.js';
import { prove } from './proof.js';

interface Tools {
  suite: string;
  packageName: string;
  dump: string;
  client: string;
  options: readonly string[];
}

/** Dump programs of each database, from the Debian suite that provides its server. */
const TOOLS: Record<ServerKind, Tools> = {
  mysql: {
    suite: 'unstable',
    packageName: 'mysql-client-core',
    dump: '/usr/bin/mysqldump',
    client: '/usr/bin/mysql',
    options: ['--no-tablespaces', '--set-gtid-purged=OFF'],
  },
  mariadb: {
    suite: 'bookworm',
    packageName: 'mariadb-client',
    dump: '/usr/bin/mariadb-dump',
    client: '/usr/bin/mariadb',
    options: [],
  },
};

/**
 * Dumps a database to a file as of one point in time, while others keep writing (docs/operations.md, "Backup and restore").
 */
export async function dumpDatabase(kind: ServerKind, databaseUrl: string, file: string): Promise<void> {
  const { suite, packageName, dump, options } = TOOLS[kind];
  const { command } = await unpackedProgram(suite, packageName, dump);
  const args = [...login(databaseUrl), '--single-transaction', ...options, nameOf(databaseUrl)];
  const child = spawn(command[0], [...command.slice(1), ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = exitOf(child);
  await pipeline(child.stdout, createWriteStream(file));
  prove((await ended) === 0, `${dump} failed`);
}

/** Restores a dump by {@link dumpDatabase} into an empty database. */
export async function restoreDatabase(kind: ServerKind, databaseUrl: string, file: string): Promise<void> {
  const { suite, packageName, client } = TOOLS[kind];
  const { command } = await unpackedProgram(suite, packageName, client);
  const args = [...command.slice(1), ...login(databaseUrl), nameOf(databaseUrl)];
  const child = spawn(command[0], args, { stdio: ['pipe', 'ignore', 'inherit'] });
  const ended = exitOf(child);
  await pipeline(createReadStream(file), child.stdin);
  prove((await ended) === 0, `${client} failed`);
}

/** Returns the connection options. `--no-defaults` must be the first option. */
function login(databaseUrl: string): string[] {
  const { hostname, port, username, password } = new URL(databaseUrl);
  const user = decodeURIComponent(username);
  const secret = password === '' ? [] : [`--password=${decodeURIComponent(password)}`];
  return [
    '--no-defaults',
    '--protocol=tcp',
    `--host=${hostname}`,
    `--port=${port}`,
    `--user=${user}`,
    ...secret,
  ];
}

function nameOf(databaseUrl: string): string {
  return new URL(databaseUrl).pathname.slice(1);
}

function exitOf(child: ReturnType<typeof spawn>): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
}
