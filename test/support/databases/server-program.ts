import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { unpackedProgram } from './debian-package.js';

const run = promisify(execFile);

/** Servers the service supports in production. */
export type ServerKind = 'mariadb' | 'mysql';

/** A database server program of the version the tests ask for. */
export interface ServerProgram {
  kind: ServerKind;
  command: [string, ...string[]];
  /** The `/usr` the program was built for; holds its message and SQL files. */
  baseDir: string;
  /** What the program says of its version. */
  version: string;
}

interface Wanted {
  /** Programs of the host that may be the wanted one; `mysqld` may be MariaDB's, so the version decides. */
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
 * The server program of the wanted version: the host's own one, else one unpacked from Debian's packages.
 * @throws Error that says in one sentence why there is none
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

/** Every database the service runs on: the embedded SQLite file and the servers of production. */
export type DatabaseKind = 'embedded' | ServerKind;

export const DATABASE_KINDS: readonly DatabaseKind[] = ['embedded', 'mariadb', 'mysql'];

/** What integration tests run on: beside those a Vitess with two shards, over a MySQL server. */
export type TestedDatabase = DatabaseKind | 'vitess';

export const TESTED_DATABASES: readonly TestedDatabase[] = [...DATABASE_KINDS, 'vitess'];
