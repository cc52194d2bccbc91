import { PrivateServer, type PrivateServerOptions } from './private-server.js';
import { serverProgram, type ServerKind } from './server-program.js';
import { createConnection } from 'mysql2/promise';

/** A running database server for tests. */
export interface TestDatabase {
  kind: ServerKind;
  version: string;
  /** Address with credentials and without a database name; its scheme is `mysql` or `mariadb`. */
  url: string;
  /** Whether the tests started the server. Otherwise `kill` and `restart` reject. */
  owned: boolean;
  /** Kills the server and keeps its data. @default SIGKILL */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Restarts the server on the same port and data. */
  restart(): Promise<void>;
  /** Stops the server and removes its data. */
  stop(): Promise<void>;
}

/** The started servers, and the reason, in one sentence, for each that is not available. */
export interface StartedDatabases {
  databases: TestDatabase[];
  missing: { kind: ServerKind; reason: string }[];
}

const USER_SERVER: Record<ServerKind, string> = { mariadb: 'TEST_MARIADB_URL', mysql: 'TEST_MYSQL_URL' };

/**
 * Starts real database servers on free loopback ports, each with its own data folder. They stop when this process exits.
 *
 * If `TEST_MARIADB_URL` or `TEST_MYSQL_URL` is set, that server is used as it is. Otherwise MariaDB 10.11 and MySQL 9
 * are taken from the host, or unpacked from Debian packages into the user's cache folder.
 * @returns servers that are not available are listed in `missing`; the promise does not reject
 */
export async function startDatabases(
  kinds: readonly ServerKind[],
  options: PrivateServerOptions = {},
): Promise<StartedDatabases> {
  const started: StartedDatabases = { databases: [], missing: [] };
  await Promise.all(
    kinds.map(async (kind) => {
      try {
        started.databases.push(await startDatabase(kind, options));
      } catch (error) {
        started.missing.push({ kind, reason: error instanceof Error ? error.message : String(error) });
      }
    }),
  );
  started.databases.sort((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind));
  return started;
}

/**
 * Returns the reason why a server is not available on this machine, or undefined if {@link startDatabases} can start it.
 * The first call may take a minute because it unpacks the server's packages.
 */
export async function reasonNotAvailable(kind: ServerKind): Promise<string | undefined> {
  if (process.env[USER_SERVER[kind]]) {
    return undefined;
  }
  return serverProgram(kind).then(
    () => undefined,
    (error: Error) => error.message,
  );
}

async function startDatabase(kind: ServerKind, options: PrivateServerOptions): Promise<TestDatabase> {
  const url = process.env[USER_SERVER[kind]];
  if (url) {
    return userServer(kind, url);
  }
  return PrivateServer.start(await serverProgram(kind), options);
}

function userServer(kind: ServerKind, address: string): TestDatabase {
  const url = new URL(address);
  url.protocol = `${kind}:`;
  url.pathname = '/';
  const refuse = (): Promise<never> =>
    Promise.reject(new Error(`The server in ${USER_SERVER[kind]} cannot be stopped or restarted by tests.`));
  return {
    kind,
    version: 'as given',
    url: url.href,
    owned: false,
    kill: refuse,
    restart: refuse,
    stop: () => Promise.resolve(),
  };
}

/**
 * Creates an empty database. Drops an existing one with the same name.
 * @param serverUrl address of a server, as in {@link TestDatabase.url}
 * @param name letters, digits and `_`
 * @returns the address of the new database
 */
export async function scratchDatabase(serverUrl: string, name: string): Promise<string> {
  await execute(serverUrl, [
    `DROP DATABASE IF EXISTS \`${name}\``,
    `CREATE DATABASE \`${name}\` CHARACTER SET utf8mb4`,
  ]);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** Removes a database if it exists. */
export async function dropDatabase(serverUrl: string, name: string): Promise<void> {
  await execute(serverUrl, [`DROP DATABASE IF EXISTS \`${name}\``]);
}

async function execute(serverUrl: string, statements: string[]): Promise<void> {
  const { hostname, port, username, password } = new URL(serverUrl);
  const connection = await createConnection({
    host: hostname,
    port: port === '' ? 3306 : Number(port),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
  });
  try {
    for (const statement of statements) {
      await connection.query(statement);
    }
  } finally {
    await connection.end();
  }
}
