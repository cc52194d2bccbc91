import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { unpackedProgram } from './debian-package.js';

const run = promisify(execFile);

/** Servers the service supports in production. */
export type ServerKind = 'mariadb' | 'mysql';

/** A database server program of the version that the tests require. */
export interface ServerProgram {
  kind: ServerKind;
  command: [string, ...string[]];
  /** Folder that corresponds to `/usr`; contains the message and SQL files of the server. */
  baseDir: string;
  /** Version as the program prints it. */
  version: string;
}

interface Wanted {
  /** Possible paths on the host. `mysqld` may belong to MariaDB, so `version` must match too. */
  candidates: string[];
  version: RegExp;
  suite: string;
  packageName: string;
  program: string;
}

const WANTED: Record<ServerKind, Wanted> = {
  mariadb: {
    candidates: ['/usr/sbin/mariadbd', '/usr/local/sbin/mariadbd'],
    version: /Ver 10\.11\.\d+-MariaDB/,
    suite: 'bookworm',
    packageName: 'mariadb-server-core',
    program: '/usr/sbin/mariadbd',
  },
  mysql: {
    candidates: ['/usr/sbin/mysqld', '/usr/local/mysql/bin/mysqld'],
    version: /Ver 9\.(?!.*MariaDB)/,
    suite: 'unstable',
    packageName: 'mysql-server-core',
    program: '/usr/sbin/mysqld',
  },
};

/**
 * Returns the server program of the required version: the host's, or else one unpacked from Debian packages.
 * @throws Error with the reason, in one sentence, why it is not available
 */
export async function serverProgram(kind: ServerKind): Promise<ServerProgram> {
  const wanted = WANTED[kind];
  for (const candidate of wanted.candidates) {
    const version = await versionOf([candidate]).catch(() => '');
    if (wanted.version.test(version)) {
      return { kind, command: [candidate], baseDir: '/usr', version };
    }
  }
  const { root, command } = await unpackedProgram(wanted.suite, wanted.packageName, wanted.program);
  const version = await versionOf(command);
  if (!wanted.version.test(version)) {
    throw new Error(`Debian ${wanted.suite} offers another version: ${version}`);
  }
  return { kind, command, baseDir: join(root, 'usr'), version };
}

async function versionOf([file, ...args]: [string, ...string[]]): Promise<string> {
  const { stdout } = await run(file, [...args, '--no-defaults', '--version']);
  return /Ver \S+/.exec(stdout)?.[0] ?? stdout.trim();
}

/** Databases that the service supports: the embedded SQLite file and the servers for production. */
export type DatabaseKind = 'embedded' | ServerKind;

export const DATABASE_KINDS: readonly DatabaseKind[] = ['embedded', 'mariadb', 'mysql'];

/** Databases that integration tests can run on. `vitess` has two shards on one MySQL server. */
export type TestedDatabase = DatabaseKind | 'vitess';

export const TESTED_DATABASES: readonly TestedDatabase[] = [...DATABASE_KINDS, 'vitess'];
