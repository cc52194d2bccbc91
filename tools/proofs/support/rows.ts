import LibsqlDatabase from 'libsql';
import { createConnection } from 'mysql2/promise';
import type { RawRow } from '../../../src/store/tables/column-values.js';

type Row = Record<string, unknown>;

/** Reads rows directly from the database, as independent evidence of what is stored. */
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

/** Runs one SELECT. */
export type Select = (sql: string, parameters?: (string | number)[]) => Promise<RawRow[]>;

/** A separate database connection on which a reader sees all rows as of one point in time. */
export class Snapshots {
  private queue: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly begin: () => Promise<unknown>,
    private readonly select: Select,
    private readonly end: () => Promise<unknown>,
    /** Closes the connection. */
    readonly close: () => Promise<void>,
  ) {}

  static async open(databaseUrl: string): Promise<Snapshots> {
    return databaseUrl.startsWith('sqlite:')
      ? Snapshots.ofFile(databaseUrl.slice('sqlite:'.length))
      : Snapshots.ofServer(databaseUrl.replace(/^mariadb:/, 'mysql:'));
  }

  /** Reads in one snapshot. Reads are sequential, since there is one connection. */
  read<T>(work: (select: Select) => Promise<T>): Promise<T> {
    const result = this.queue.then(async () => {
      await this.begin();
      const found = await work(this.select);
      await this.end();
      return found;
    });
    this.queue = result.catch(() => undefined);
    return result;
  }

  private static ofFile(file: string): Snapshots {
    const database = new LibsqlDatabase(file);
    const readers = new Map<string, (parameters: (string | number)[]) => RawRow[]>();
    const reader = (sql: string): ((parameters: (string | number)[]) => RawRow[]) => {
      const statement = database.prepare(sql);
      return (parameters) => statement.all(...parameters) as RawRow[];
    };
    return new Snapshots(
      async () => database.exec('BEGIN'),
      async (sql, parameters = []) => {
        const read = readers.get(sql) ?? reader(sql);
        readers.set(sql, read);
        return read(parameters);
      },
      async () => database.exec('COMMIT'),
      async () => void database.close(),
    );
  }

  private static async ofServer(uri: string): Promise<Snapshots> {
    const connection = await createConnection({ uri, timezone: 'Z' });
    // The next statement reports that the server was killed.
    connection.on('error', () => undefined);
    await connection.query('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ');
    return new Snapshots(
      () => connection.query('START TRANSACTION WITH CONSISTENT SNAPSHOT'),
      async (sql, parameters = []) => {
        const [rows] = await connection.query(sql, parameters);
        return rows as RawRow[];
      },
      () => connection.query('COMMIT'),
      async () => connection.destroy(),
    );
  }
}
