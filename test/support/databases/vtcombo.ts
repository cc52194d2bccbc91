import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, openSync, readFileSync, rmSync } from 'node:fs';
import { chmod, copyFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createConnection } from 'mysql2/promise';
import { cacheFolder } from './debian-package.js';
import { freePort, processFolder } from './process-resources.js';

const run = promisify(execFile);

const VERSION = 'v0.23.3';
const START_TIMEOUT_MS = 120_000;
/** Keyspaces of the files in deploy/vitess, which are repeated for each worker. */
const SHARDED = 'rt';
const UNSHARDED = 'ctl';
/** Shards of the sharded keyspace, and how many they are. */
const SHARDS = ['-80', '80-'];
/** A primary without replicas. */
const ALONE = { replica_count: 1, rdonly_count: -1 };
/** Vitess refuses to run as root. */
const NOBODY = 65_534;

/** A module of its own: the release cannot be installed by its name. */
const MODULE: Readonly<Record<string, string>> = {
  'go.mod': `module vtcombo\n\ngo 1.25\n\nrequire vitess.io/vitess ${VERSION}\n`,
  'tools.go': '//go:build tools\n\npackage tools\n\nimport _ "vitess.io/vitess/go/cmd/vtcombo/cli"\n',
};

const PROGRAM = join(cacheFolder(), `vtcombo-${VERSION}`);

/**
 * Why there is no vtcombo, in one sentence; undefined when there is one.
 * @param isWanted whether it is built where it is missing, which takes minutes
 */
export async function reasonNoVtcombo(isWanted: boolean): Promise<string | undefined> {
  if (!isWanted && !existsSync(PROGRAM)) {
    return 'vtcombo is not built yet; `npm test -- --db vitess` builds it with Go, once, in some minutes';
  }
  return vtcomboProgram().then(
    () => undefined,
    (error: Error) => error.message,
  );
}

/**
 * Path of vtcombo, which is built once for each release and kept in the user's cache folder: some minutes of a processor.
 * @throws Error that says in one sentence why there is none
 */
export async function vtcomboProgram(): Promise<string> {
  if (existsSync(PROGRAM)) {
    return PROGRAM;
  }
  await run('go', ['version']).catch(() => {
    throw new Error('Go is not at hand, which Vitess is built with');
  });
  await mkdir(dirname(PROGRAM), { recursive: true });
  const work = await processFolder(`${PROGRAM}.building`);
  try {
    for (const [name, text] of Object.entries(MODULE)) {
      await writeFile(join(work, name), text);
    }
    const options = { cwd: work, maxBuffer: 64 * 1024 * 1024 };
    await run('go', ['mod', 'tidy'], options);
    await run('go', ['build', '-mod=mod', '-o', 'built', 'vitess.io/vitess/go/cmd/vtcombo'], options);
    // Whole or not at all, also where two build it at one time.
    await rename(join(work, 'built'), PROGRAM);
    return PROGRAM;
  } catch (error) {
    const line = (error as { stderr?: string }).stderr?.trim().split('\n').at(-1);
    throw new Error(`vtcombo cannot be built: ${line ?? String(error)}`, { cause: error });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/**
 * Vitess in one process over one MySQL server: a sharded and an unsharded keyspace for each worker, and no transaction that touches two
 * shards.
 */
export class Vtcombo {
  private child: ChildProcess | undefined;
  private readonly onExit = (): void => this.discard();

  private constructor(
    private readonly folder: string,
    readonly port: number,
    readonly debugPort: number,
  ) {}

  /** What the server of its rows is started with. */
  static readonly serverSettings: readonly string[] = [
    '--log-bin=binlog',
    '--server-id=1',
    '--gtid-mode=ON',
    '--enforce-gtid-consistency=ON',
  ];

  /**
   * @param server address of the server that keeps its rows, with credentials
   * @param workers numbers of the pairs of keyspaces
   */
  static async start(server: string, workers: readonly number[]): Promise<Vtcombo> {
    const program = await vtcomboProgram();
    const folder = await processFolder(join(tmpdir(), 'svc-vitess'));
    const vtcombo = new Vtcombo(folder, await freePort(), await freePort());
    process.once('exit', vtcombo.onExit);
    try {
      await createDatabases(server, workers);
      await vtcombo.prepare(program, workers);
      await vtcombo.launch(server, workers);
    } catch (error) {
      await vtcombo.stop();
      throw error;
    }
    return vtcombo;
  }

  /** DATABASE_URL of a worker. */
  url(worker: number): string {
    return `mysql://svc:svc@127.0.0.1:${this.port}/${UNSHARDED}_${worker}`;
  }

  /** Further settings of the service for a worker. */
  static settings(worker: number): Record<string, string> {
    return {
      DATABASE_SHARDS: String(SHARDS.length),
      DATABASE_SHARD_KEYSPACE: `${SHARDED}_${worker}`,
    };
  }

  async stop(): Promise<void> {
    const { child } = this;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      child.kill('SIGKILL');
      await gone;
    }
    process.removeListener('exit', this.onExit);
    this.discard();
  }

  private async prepare(program: string, workers: readonly number[]): Promise<void> {
    // Where one who is not root may read and write.
    await copyFile(program, join(this.folder, 'vtcombo'));
    const [sharded, unsharded] = await Promise.all(
      [SHARDED, UNSHARDED].map((name) => readFile(join('deploy/vitess', `${name}.vschema.json`), 'utf8')),
    );
    for (const worker of workers) {
      for (const [name, vschema] of [
        [`${SHARDED}_${worker}`, sharded],
        [`${UNSHARDED}_${worker}`, unsharded],
      ] as const) {
        await mkdir(join(this.folder, 'schema', name), { recursive: true });
        await writeFile(join(this.folder, 'schema', name, 'vschema.json'), vschema ?? '{}');
      }
    }
    await mkdir(join(this.folder, 'tmp'));
    await Promise.all(['', 'tmp'].map((name) => chmod(join(this.folder, name), 0o777)));
  }

  private async launch(server: string, workers: readonly number[]): Promise<void> {
    const log = openSync(join(this.folder, 'vtcombo.log'), 'a');
    const child = spawn(join(this.folder, 'vtcombo'), await this.arguments(server, workers), {
      cwd: this.folder,
      stdio: ['ignore', log, log],
      env: { ...process.env, VTDATAROOT: this.folder },
      ...(process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}),
    });
    this.child = child;
    let failure: Error | undefined;
    child.once('error', (error) => {
      failure = error;
    });
    const deadline = Date.now() + START_TIMEOUT_MS;
    while (!(await this.answers(workers[0] ?? 1))) {
      if (failure !== undefined || child.exitCode !== null || Date.now() > deadline) {
        throw new Error(`vtcombo did not start:\n${this.logTail()}`, { cause: failure });
      }
      await sleep(100);
    }
  }

  private async arguments(server: string, workers: readonly number[]): Promise<string[]> {
    const { port, username: user, password } = new URL(server);
    const accounts = ['app', 'dba', 'allprivs', 'appdebug', 'repl', 'filtered'].flatMap((name) => [
      `--db-${name}-user=${user}`,
      `--db-${name}-password=${password}`,
      `--db-${name}-use-ssl=false`,
    ]);
    return [
      `--json-topo=${JSON.stringify(await topology(workers))}`,
      `--schema-dir=${join(this.folder, 'schema')}`,
      '--db-host=127.0.0.1',
      `--db-port=${port}`,
      ...accounts,
      '--db-charset=utf8mb4',
      `--port=${this.debugPort}`,
      '--bind-address=127.0.0.1',
      `--mysql-server-port=${this.port}`,
      '--mysql-server-bind-address=127.0.0.1',
      '--mysql-auth-server-impl=none',
      '--mycnf-server-id=1',
      `--mycnf-socket-file=${join(this.folder, 'none')}`,
      '--tablet-types-to-wait=PRIMARY',
      '--foreign-key-mode=allow',
      '--enable-system-settings=true',
      '--transaction-mode=SINGLE',
      '--queryserver-config-pool-size=20',
      '--queryserver-config-transaction-cap=100',
      `--log_dir=${join(this.folder, 'tmp')}`,
    ];
  }

  private async answers(worker: number): Promise<boolean> {
    try {
      const connection = await createConnection({ uri: this.url(worker), connectTimeout: 1_000 });
      await connection.query('SELECT 1 FROM dual');
      await connection.end();
      return true;
    } catch {
      return false;
    }
  }

  private logTail(): string {
    return readFileSync(join(this.folder, 'vtcombo.log'), 'utf8').split('\n').slice(-15).join('\n');
  }

  /** Also the exit hook, therefore synchronous. */
  private discard(): void {
    this.child?.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Keyspaces and routing rules of all workers. */
async function topology(workers: readonly number[]): Promise<object> {
  const { rules } = JSON.parse(await readFile('deploy/vitess/routing-rules.json', 'utf8')) as {
    rules: { from_table: string; to_tables: string[] }[];
  };
  const of = (worker: number, table: string): string =>
    table.replace(/^(\w+)\./, (_, keyspace: string) => `${keyspace}_${worker}.`);
  return {
    keyspaces: workers.flatMap((worker) => [
      { name: `${SHARDED}_${worker}`, shards: SHARDS.map((name) => ({ name })), ...ALONE },
      { name: `${UNSHARDED}_${worker}`, shards: [{ name: '0' }], ...ALONE },
    ]),
    routing_rules: {
      rules: workers.flatMap((worker) =>
        rules
          .filter(({ from_table: from }) => from.includes('.'))
          .map(({ from_table: from, to_tables: to }) => ({
            from_table: of(worker, from),
            to_tables: to.map((table) => of(worker, table)),
          })),
      ),
    },
  };
}

/** Vitess makes none on a server that is not its own. */
async function createDatabases(server: string, workers: readonly number[]): Promise<void> {
  const connection = await createConnection({ uri: server.replace(/^\w+:/, 'mysql:') });
  try {
    for (const worker of workers) {
      const names = [
        ...SHARDS.map((shard) => `vt_${SHARDED}_${worker}_${shard}`),
        `vt_${UNSHARDED}_${worker}_0`,
      ];
      for (const name of names) {
        await connection.query(`CREATE DATABASE \`${name}\` CHARACTER SET utf8mb4`);
      }
    }
  } finally {
    await connection.end();
  }
}
