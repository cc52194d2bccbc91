import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServerProgram } from './server-program.js';

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

/** Both servers refuse to run as root unless told to; for any other user the option is an error. */
export function asUser(): string[] {
  return process.getuid?.() === 0 ? ['--user=root'] : [];
}

/** Where the server finds its texts, also when it was unpacked outside `/usr`. */
export function messages(program: ServerProgram): string {
  return `--lc-messages-dir=${join(program.baseDir, 'share/mysql')}`;
}

async function mariadbSystemTables(program: ServerProgram): Promise<string> {
  const files = await Promise.all(
    MARIADB_SQL_FILES.map((name) => readFile(join(program.baseDir, 'share/mysql', name), 'utf8')),
  );
  // Bootstrap mode reads one statement a line.
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
  // A server that stops early closes its input; its exit status tells more than the broken pipe.
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
