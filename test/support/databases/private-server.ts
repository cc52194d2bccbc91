import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import { LocalServer, type LocalServerPlan } from './local-server.js';
import { freePort } from './process-resources.js';
import type { ServerKind, ServerProgram } from './server-program.js';
import { asUser, forgetSystemTables, messages, systemTables } from './system-tables.js';

const USER = 'svc';
/** Statements that run at every start. The account can connect over loopback only. */
const INIT_SQL = [
  // Members of a replication group must not have local transactions in their binary logs.
  'SET SESSION sql_log_bin = 0;',
  `CREATE USER IF NOT EXISTS '${USER}'@'127.0.0.1' IDENTIFIED BY '${USER}';`,
  `GRANT ALL PRIVILEGES ON *.* TO '${USER}'@'127.0.0.1' WITH GRANT OPTION;`,
  '',
].join('\n');

/** Options of a private server. */
export interface PrivateServerOptions {
  /**
   * Do not wait for the disk on commit. Suitable for ordinary tests, but not for crash tests.
   * @default false
   */
  fast?: boolean;
  /** Further command-line options. */
  settings?: readonly string[];
}

/** A database server that only this process uses. It stops when this process exits. */
export class PrivateServer {
  /** See {@link TestDatabase.owned}. */
  readonly owned = true;

  private constructor(
    private readonly program: ServerProgram,
    private readonly port: number,
    private readonly server: LocalServer,
  ) {}

  /**
   * Starts an empty server on a free loopback port and waits until it is ready.
   * @throws Error with the end of the server's log
   */
  static async start(program: ServerProgram, options: PrivateServerOptions = {}): Promise<PrivateServer> {
    const port = await freePort();
    const plan = planOf(program, port, options);
    const server = await LocalServer.start(plan).catch(async () => {
      // The cached system tables may be corrupt, so retry with new ones.
      await forgetSystemTables(program);
      return LocalServer.start(plan);
    });
    return new PrivateServer(program, port, server);
  }

  get kind(): ServerKind {
    return this.program.kind;
  }

  get version(): string {
    return this.program.version;
  }

  /** `mysql://user:password@127.0.0.1:port/`, without a database name. */
  get url(): string {
    return `${this.kind}://${USER}:${USER}@127.0.0.1:${this.port}/`;
  }

  /** Sends a signal to the server and waits until it has exited. Keeps its data. */
  kill(signal?: NodeJS.Signals): Promise<void> {
    return this.server.kill(signal);
  }

  /** Restarts the server on the same port and data. */
  restart(): Promise<void> {
    return this.server.restart('SIGTERM');
  }

  /** Stops the server and removes its data. */
  stop(): Promise<void> {
    return this.server.stop();
  }
}

function planOf(
  program: ServerProgram,
  port: number,
  { fast = false, settings = [] }: PrivateServerOptions,
): LocalServerPlan {
  return {
    name: program.kind,
    prepare: async (folder) => {
      await writeFile(join(folder, 'init.sql'), INIT_SQL);
      await systemTables(program, join(folder, 'data'));
    },
    command: (folder) => [
      ...program.command,
      '--no-defaults',
      ...asUser(),
      `--basedir=${program.baseDir}`,
      messages(program),
      `--datadir=${join(folder, 'data')}`,
      // At startup a server deletes leftover temporary tables in this folder, including those of other running servers.
      `--tmpdir=${folder}`,
      `--socket=${join(folder, 'socket')}`,
      `--pid-file=${join(folder, 'pid')}`,
      `--init-file=${join(folder, 'init.sql')}`,
      `--port=${port}`,
      '--bind-address=127.0.0.1',
      '--skip-name-resolve',
      '--max-connections=400',
      '--innodb-buffer-pool-size=128M',
      '--innodb-use-native-aio=0',
      '--performance-schema=OFF',
      '--character-set-server=utf8mb4',
      ...(program.kind === 'mysql' ? ['--mysqlx=OFF', '--secure-file-priv=NULL'] : []),
      ...(fast ? ['--innodb-flush-log-at-trx-commit=0', '--skip-innodb-doublewrite', '--skip-log-bin'] : []),
      ...settings,
    ],
    isReady: () => acceptsQueries(`mysql://${USER}:${USER}@127.0.0.1:${port}/`),
  };
}

/** Returns true once a server has run a query. Rejects if it cannot be reached. */
export async function acceptsQueries(uri: string): Promise<boolean> {
  const connection = await createConnection({ uri, connectTimeout: 1_000 });
  try {
    await connection.query('SELECT 1 FROM dual');
    return true;
  } finally {
    await connection.end();
  }
}
