import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { createConnection } from 'mysql2/promise';
import { cacheFolder } from './debian-package.js';
import { LocalServer } from './local-server.js';
import { acceptsQueries } from './private-server.js';
import { freePort, processFolder } from './process-resources.js';

const run = promisify(execFile);

const VERSION = 'v0.23.3';
/** Keyspaces of the files in deploy/vitess. Each worker gets a copy of both. */
const SHARDED = 'rt';
const UNSHARDED = 'ctl';
/** Shards of the sharded keyspace. */
const SHARDS = ['-80', '80-'];
/** Vitess counts the primary as a replica, so these counts mean a primary without replicas. */
const PRIMARY_ONLY = { replica_count: 1, rdonly_count: -1 };
const SETTINGS = [
  '--db-charset=utf8mb4',
  '--bind-address=127.0.0.1',
  '--mysql-server-bind-address=127.0.0.1',
  '--mysql-auth-server-impl=none',
  '--mycnf-server-id=1',
  '--tablet-types-to-wait=PRIMARY',
  '--foreign-key-mode=allow',
  '--enable-system-settings=true',
  '--transaction-mode=SINGLE',
  '--queryserver-config-pool-size=20',
  '--queryserver-config-transaction-cap=100',
];

/** A Go module that builds vtcombo, because `go install` cannot install this release by its name. */
const MODULE: Readonly<Record<string, string>> = {
  'go.mod': `module vtcombo\n\ngo 1.25\n\nrequire vitess.io/vitess ${VERSION}\n`,
  'tools.go': '//go:build tools\n\npackage tools\n\nimport _ "vitess.io/vitess/go/cmd/vtcombo/cli"\n',
};

const PROGRAM = join(cacheFolder(), `vtcombo-${VERSION}`);

/**
 * Returns the reason, in one sentence, why vtcombo is not available, or undefined if it is.
 * @param isWanted whether to build it if it is missing, which takes minutes
 */
export async function reasonNoVtcombo(isWanted: boolean): Promise<string | undefined> {
  if (!isWanted && !existsSync(PROGRAM)) {
    return 'vtcombo is not built yet; `npm test -- --db vitess` builds it with Go once, which takes a few minutes';
  }
  return vtcomboProgram().then(
    () => undefined,
    (error: Error) => error.message,
  );
}

/**
 * Returns the path of vtcombo. Builds it once per release, which takes a few minutes, and keeps it in the user's cache
 * folder.
 * @throws Error with the reason, in one sentence, why it is not available
 */
export async function vtcomboProgram(): Promise<string> {
  if (existsSync(PROGRAM)) {
    return PROGRAM;
  }
  await run('go', ['version']).catch(() => {
    throw new Error('Go is not installed, but is required to build Vitess.');
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
    // Rename atomically, because two processes may build it concurrently.
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
 * Vitess in one process on top of one MySQL server. Each worker has a sharded and an unsharded keyspace. Transactions
 * that span two shards are rejected.
 */
export class Vtcombo {
  private constructor(
    private readonly server: LocalServer,
    readonly port: number,
    readonly debugPort: number,
  ) {}

  /** Options of the MySQL server that stores the rows. */
  static readonly serverSettings: readonly string[] = [
    '--log-bin=binlog',
    '--server-id=1',
    '--gtid-mode=ON',
    '--enforce-gtid-consistency=ON',
  ];

  /**
   * @param server address of the MySQL server that stores the rows, with credentials
   * @param workers numbers of the workers; each gets a pair of keyspaces
   */
  static async start(server: string, workers: readonly number[]): Promise<Vtcombo> {
    const program = await vtcomboProgram();
    const [port, debugPort] = [await freePort(), await freePort()];
    await createDatabases(server, workers);
    const topologyText = JSON.stringify(await topology(workers));
    const local = await LocalServer.start({
      name: 'vitess',
      refusesRoot: true,
      prepare: (folder) => prepare(folder, program, workers),
      command: (folder) => [
        join(folder, 'vtcombo'),
        `--json-topo=${topologyText}`,
        `--schema-dir=${join(folder, 'schema')}`,
        `--mycnf-socket-file=${join(folder, 'none')}`,
        `--log_dir=${join(folder, 'tmp')}`,
        `--port=${debugPort}`,
        `--mysql-server-port=${port}`,
        ...mysqlOptions(server),
        ...SETTINGS,
      ],
      environment: (folder) => ({ VTDATAROOT: folder }),
      isReady: () => acceptsQueries(urlOf(port, workers[0] ?? 1)),
    });
    return new Vtcombo(local, port, debugPort);
  }

  /** DATABASE_URL of a worker. */
  url(worker: number): string {
    return urlOf(this.port, worker);
  }

  /** Further settings of the service for a worker. */
  static settings(worker: number): Record<string, string> {
    return {
      DATABASE_SHARDS: String(SHARDS.length),
      DATABASE_SHARD_KEYSPACE: `${SHARDED}_${worker}`,
    };
  }

  stop(): Promise<void> {
    return this.server.stop();
  }
}

function urlOf(port: number, worker: number): string {
  return `mysql://svc:svc@127.0.0.1:${port}/${UNSHARDED}_${worker}`;
}

/** Prepares a folder that users other than root can read. */
async function prepare(folder: string, program: string, workers: readonly number[]): Promise<void> {
  await copyFile(program, join(folder, 'vtcombo'));
  for (const name of [SHARDED, UNSHARDED]) {
    const vschema = await readFile(join('deploy/vitess', `${name}.vschema.json`), 'utf8');
    for (const worker of workers) {
      const keyspace = join(folder, 'schema', `${name}_${worker}`);
      await mkdir(keyspace, { recursive: true });
      await writeFile(join(keyspace, 'vschema.json'), vschema);
    }
  }
  await mkdir(join(folder, 'tmp'));
  await chmod(join(folder, 'tmp'), 0o777);
}

/** Options that connect vtcombo to the MySQL server. */
function mysqlOptions(server: string): string[] {
  const { port, username: user, password } = new URL(server);
  const accounts = ['app', 'dba', 'allprivs', 'appdebug', 'repl', 'filtered'].flatMap((name) => [
    `--db-${name}-user=${user}`,
    `--db-${name}-password=${password}`,
    `--db-${name}-use-ssl=false`,
  ]);
  return ['--db-host=127.0.0.1', `--db-port=${port}`, ...accounts];
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
      { name: `${SHARDED}_${worker}`, shards: SHARDS.map((name) => ({ name })), ...PRIMARY_ONLY },
      { name: `${UNSHARDED}_${worker}`, shards: [{ name: '0' }], ...PRIMARY_ONLY },
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

/** Creates the databases of the keyspaces. Vitess does not create them on an external server. */
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
