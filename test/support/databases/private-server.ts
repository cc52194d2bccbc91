import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import { LocalServer, type LocalServerPlan } from './local-server.js';
import { freePort } from './process-resources.js';
import type { ServerKind, ServerProgram } from './server-program.js';
import { asUser, forgetSystemTables, messages, systemTables } from './system-tables.js';

const USER = 'svc';
/** Runs at every start; the account reaches the server over loopback only. */
const INIT_SQL = [
  // Members of a replication group must have no history of their own.
  'SET SESSION sql_log_bin = 0;',
  `CREATE USER IF NOT EXISTS '${USER}'@'127.0.0.1' IDENTIFIED BY '${USER}';`,
  `GRANT ALL PRIVILEGES ON *.* TO '${USER}'@'127.0.0.1' WITH GRANT OPTION;`,
  '',
].join('\n');

/** How a private server trades durability for speed. */
export interface PrivateServerOptions {
  /**
   * Do not wait for the disk on commit. Right for ordinary tests, wrong for crash proofs.
   * @default false
   */
  fast?: boolean;
  /** More settings for the command line; they go before the usual ones. */
  settings?: readonly string[];
}

/** A database server that belongs to this process alone and ends with it. */
export class PrivateServer {
  /** See {@link TestDatabase.owned}. */
  readonly owned = true;

  private constructor(
    private readonly program: ServerProgram,
    private readonly port: number,
    private readonly server: LocalServer,
  ) {}

  /**
   * Creates an empty server on a free loopback port and waits until it answers.
   * @throws Error with the end of the server's log
   */
  static async start(program: ServerProgram, options: PrivateServerOptions = {}): Promise<PrivateServer> {
    const port = await freePort();
    const plan = planOf(program, port, options);
    const server = await LocalServer.start(plan).catch(async () => {
      // What is kept of the system tables may be broken; new ones are not.
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

  /** Sends a signal to the server and waits until it is gone. The data stays. */
  kill(signal?: NodeJS.Signals): Promise<void> {
    return this.server.kill(signal);
  }

  /** Starts the server again on the same port and data, ending it first when it still runs. */
  restart(): Promise<void> {
    return this.server.restart('SIGTERM');
  }

  /** Ends the server and removes its data. */
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
      // A server that starts removes what looks like a table of its own there, also those of servers that run.
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
    isReady: () => answers(`mysql://${USER}:${USER}@127.0.0.1:${port}/`),
  };
}

/** Whether a server answers a statement; rejects where nothing listens. */
export async function answers(uri: string): Promise<boolean> {
  const connection = await createConnection({ uri, connectTimeout: 1_000 });
  try {
    await connection.query('SELECT 1 FROM dual');
    return true;
  } finally {
    await connection.end();
  }
}
