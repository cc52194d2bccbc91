import { existsSync } from 'node:fs';
import { cp, mkdir, rm, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { cacheFolder, putInPlace } from './debian-package.js';
import { processFolder } from './process-resources.js';
import type { ServerProgram } from './server-program.js';
import { spawn } from 'node:child_process';

/** MySQL's file with the identity of a server. MySQL creates a new one if it is missing. */
const IDENTITY = 'auto.cnf';

/**
 * Creates a data folder with a server's system tables. They are created once per version of a server, cached in the
 * user's cache folder, and copied from there.
 * @param dataDir folder that does not exist yet
 * @throws Error when they cannot be created or copied
 */
export async function systemTables(program: ServerProgram, dataDir: string): Promise<void> {
  const kept = keptTables(program);
  if (!existsSync(kept)) {
    await create(program, kept);
  }
  await cp(kept, dataDir, { recursive: true });
}

/** Removes the tables that {@link systemTables} cached. Used when a server does not start with a copy. */
export async function forgetSystemTables(program: ServerProgram): Promise<void> {
  await rm(keptTables(program), { recursive: true, force: true });
}

function keptTables({ kind, version }: ServerProgram): string {
  return join(cacheFolder(), `${kind}-tables-${version.replaceAll(/[^\w.+-]+/g, '-')}`);
}

async function create(program: ServerProgram, kept: string): Promise<void> {
  await mkdir(dirname(kept), { recursive: true });
  const work = await processFolder(`${kept}.building`);
  try {
    const data = join(work, 'data');
    await mkdir(data);
    await bootstrap(program, data);
    await rm(join(data, IDENTITY), { force: true });
    await putInPlace(data, kept);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

const MARIADB_SQL_FILES = [
  'mysql_system_tables.sql',
  'mysql_performance_tables.sql',
  'mysql_system_tables_data.sql',
];

/**
 * Fills an empty data folder with the server's system tables.
 * @param dataDir existing empty folder
 * @throws Error with the last lines of the server's output
 */
export async function bootstrap(program: ServerProgram, dataDir: string): Promise<void> {
  const common = ['--no-defaults', ...asUser(), `--basedir=${program.baseDir}`, `--datadir=${dataDir}`];
  switch (program.kind) {
    case 'mysql':
      return runToEnd(program, [...common, '--initialize-insecure', messages(program)], '');
    case 'mariadb':
      return runToEnd(
        program,
        [...common, '--bootstrap', '--max-allowed-packet=8M', '--innodb-use-native-aio=0', messages(program)],
        await mariadbSystemTables(program),
      );
  }
}

/** Option that lets both servers run as root, which they refuse by default. It is an error for any other user. */
export function asUser(): string[] {
  return process.getuid?.() === 0 ? ['--user=root'] : [];
}

/** Option with the folder of the server's messages, which may have been unpacked outside `/usr`. */
export function messages(program: ServerProgram): string {
  return `--lc-messages-dir=${join(program.baseDir, 'share/mysql')}`;
}

async function mariadbSystemTables(program: ServerProgram): Promise<string> {
  const files = await Promise.all(
    MARIADB_SQL_FILES.map((name) => readFile(join(program.baseDir, 'share/mysql', name), 'utf8')),
  );
  // Bootstrap mode reads one statement per line.
  return [
    'create database mysql;',
    'use mysql;',
    'set @auth_root_socket=NULL;',
    "set @current_hostname='localhost';",
    ...files,
  ].join('\n');
}

function runToEnd(program: ServerProgram, args: string[], input: string): Promise<void> {
  const [file, ...leading] = program.command;
  const child = spawn(file, [...leading, ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
  let output = '';
  const collect = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-4_000);
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  // A server that exits early closes its input. Its exit status explains more than the broken pipe.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) {
        resolve();
      } else {
        reject(new Error(`${program.kind} could not create its system tables:\n${output}`));
      }
    });
  });
}
