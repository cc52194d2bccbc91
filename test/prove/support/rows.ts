import LibsqlDatabase from 'libsql';
import { createConnection } from 'mysql2/promise';

type Row = Record<string, unknown>;

/** Reads rows past the service, as an independent witness of what is stored. */
export async function rows(databaseUrl: string, sql: string): Promise<Row[]> {
  if (databaseUrl.startsWith('sqlite:')) {
    const database = new LibsqlDatabase(databaseUrl.slice('sqlite:'.length));
    try {
      return database.prepare(sql).all() as Row[];
    } finally {
      database.close();
    }
  }
  const connection = await createConnection({ uri: databaseUrl.replace(/^mariadb:/, 'mysql:') });
  try {
    const [result] = await connection.query(sql);
    return result as Row[];
  } finally {
    await connection.end();
  }
}
