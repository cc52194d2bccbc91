import { createConnection } from 'mysql2/promise';

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
