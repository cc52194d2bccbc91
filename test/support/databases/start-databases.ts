import { PrivateServer, type PrivateServerOptions } from './private-server.js';
import { serverProgram, type ServerKind } from './server-program.js';
import { createConnection } from 'mysql2/promise';

/** A running database server for tests. */
export interface TestDatabase {
  kind: ServerKind;
  version: string;
  /** Address with credentials and without a database name, its scheme being `mysql` or `mariadb`. */
  url: string;
  /** Whether the server is ours, so that `kill` and `restart` work. */
  owned: boolean;
  /** Ends the server without removing its data; the default signal is SIGKILL. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Starts the server again on the same port and data. */
  restart(): Promise<void>;
  /** Ends the server and removes its data. */
  stop(): Promise<void>;
}

/** The servers that run, and for every one that could not be had the reason in one sentence. */
export interface StartedDatabases {
  databases: TestDatabase[];
  missing: { kind: ServerKind; reason: string }[];
}

const USER_SERVER: Record<ServerKind, string> = { mariadb: 'TEST_MARIADB_URL', mysql: 'TEST_MYSQL_URL' };

/**
 * Starts real database servers on free loopback ports with data folders of their own. They end with this process.
 *
 * A server that the user names in `TEST_MARIADB_URL` or `TEST_MYSQL_URL` is used as it is. Otherwise MariaDB 10.11
 * and MySQL 9 are taken from the host or unpacked from Debian's packages into the user's cache folder.
 * @returns never rejects for a server that cannot be had: it is listed in `missing`
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
 * Why this machine has no such server, or undefined when {@link startDatabases} would find one. May take a minute the
 * first time, since it unpacks the server's packages.
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
    Promise.reject(new Error(`${USER_SERVER[kind]} is not ours to stop or restart`));
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
 * Creates an empty database, dropping one of the same name.
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

/** Removes a database; one that does not exist is no error. */
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
