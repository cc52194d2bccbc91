import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { createConnection } from 'mysql2/promise';
import { cacheFolder } from './debian-package.js';
import { LocalServer } from './local-server.js';
import { answers } from './private-server.js';
import { freePort, processFolder } from './process-resources.js';

const run = promisify(execFile);

const VERSION = 'v0.23.3';
/** Keyspaces of the files in deploy/vitess, which are repeated for each worker. */
const SHARDED = 'rt';
const UNSHARDED = 'ctl';
/** Shards of the sharded keyspace, and how many they are. */
const SHARDS = ['-80', '80-'];
/** A primary without replicas. */
const ALONE = { replica_count: 1, rdonly_count: -1 };
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
  private constructor(
    private readonly server: LocalServer,
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
        ...ofServer(server),
        ...SETTINGS,
      ],
      environment: (folder) => ({ VTDATAROOT: folder }),
      isReady: () => answers(urlOf(port, workers[0] ?? 1)),
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

/** Fills a folder that one who is not root may read. */
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

/** Where its rows are. */
function ofServer(server: string): string[] {
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
