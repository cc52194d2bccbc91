import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, openSync, readFileSync, rmSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';
import { asUser, messages, forgetSystemTables, systemTables } from './system-tables.js';
import { freePort, processFolder } from './process-resources.js';
import type { ServerKind, ServerProgram } from './server-program.js';

const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 20_000;
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
  private child: ChildProcess | undefined;
  private readonly onExit = (): void => this.discard();

  private constructor(
    private readonly program: ServerProgram,
    private readonly folder: string,
    private readonly port: number,
    private readonly options: PrivateServerOptions,
  ) {}

  /**
   * Creates an empty server on a free loopback port and waits until it answers.
   * @throws Error with the end of the server's log
   */
  static async start(program: ServerProgram, options: PrivateServerOptions = {}): Promise<PrivateServer> {
    const folder = await processFolder(join(tmpdir(), `svc-${program.kind}`));
    const server = new PrivateServer(program, folder, await freePort(), options);
    process.once('exit', server.onExit);
    try {
      await writeFile(join(folder, 'init.sql'), INIT_SQL);
      await server.begin().catch(async () => {
        // What is kept of the system tables may be broken; new ones are not.
        await server.kill();
        await rm(server.dataDir, { recursive: true, force: true });
        await forgetSystemTables(program);
        await server.begin();
      });
    } catch (error) {
      await server.stop();
      throw error;
    }
    return server;
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
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) {
      return;
    }
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill(signal);
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await gone;
    clearTimeout(timer);
  }

  /** Starts the server again on the same port and data, ending it first when it still runs. */
  async restart(): Promise<void> {
    await this.kill('SIGTERM');
    await this.launch();
  }

  /** Ends the server and removes its data. */
  async stop(): Promise<void> {
    await this.kill('SIGKILL');
    process.removeListener('exit', this.onExit);
    this.discard();
  }

  private get dataDir(): string {
    return join(this.folder, 'data');
  }

  private async begin(): Promise<void> {
    await systemTables(this.program, this.dataDir);
    await this.launch();
  }

  private async launch(): Promise<void> {
    const log = openSync(join(this.folder, 'server.log'), 'a');
    const [file, ...args] = [...diesWithParent(), ...this.program.command, ...this.arguments()];
    const child = spawn(file as string, args, { stdio: ['ignore', log, log] });
    this.child = child;
    let failure: Error | undefined;
    child.once('error', (error) => {
      failure = error;
    });
    const deadline = Date.now() + START_TIMEOUT_MS;
    while (!(await this.answers())) {
      if (failure !== undefined || child.exitCode !== null || Date.now() > deadline) {
        throw new Error(`${this.kind} did not start:\n${this.logTail()}`, { cause: failure });
      }
      await sleep(50);
    }
  }

  private arguments(): string[] {
    return [
      '--no-defaults',
      ...asUser(),
      `--basedir=${this.program.baseDir}`,
      messages(this.program),
      `--datadir=${this.dataDir}`,
      // A server that starts removes what looks like a table of its own there, also those of servers that run.
      `--tmpdir=${this.folder}`,
      `--socket=${join(this.folder, 'socket')}`,
      `--pid-file=${join(this.folder, 'pid')}`,
      `--init-file=${join(this.folder, 'init.sql')}`,
      `--port=${this.port}`,
      '--bind-address=127.0.0.1',
      '--skip-name-resolve',
      '--max-connections=400',
      '--innodb-buffer-pool-size=128M',
      '--innodb-use-native-aio=0',
      '--performance-schema=OFF',
      '--character-set-server=utf8mb4',
      ...(this.kind === 'mysql' ? ['--mysqlx=OFF', '--secure-file-priv=NULL'] : []),
      ...(this.options.fast === true
        ? ['--innodb-flush-log-at-trx-commit=0', '--skip-innodb-doublewrite', '--skip-log-bin']
        : []),
      ...(this.options.settings ?? []),
    ];
  }

  private async answers(): Promise<boolean> {
    try {
      const connection = await createConnection({
        host: '127.0.0.1',
        port: this.port,
        user: USER,
        password: USER,
        connectTimeout: 1_000,
      });
      await connection.end();
      return true;
    } catch {
      return false;
    }
  }

  private logTail(): string {
    return readFileSync(join(this.folder, 'server.log'), 'utf8').split('\n').slice(-15).join('\n');
  }

  /** Also the exit hook, therefore synchronous. */
  private discard(): void {
    this.child?.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** On Linux the kernel ends the server when this process dies, even by SIGKILL. */
function diesWithParent(): string[] {
  return existsSync('/usr/bin/setpriv') ? ['/usr/bin/setpriv', '--pdeathsig', 'KILL', '--'] : [];
}
