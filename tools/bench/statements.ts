import { createConnection, type RowDataPacket } from 'mysql2/promise';

/** Number of recordings, since background work adds statements to some of them. */
const RECORDINGS = 5;

/** Statements of one recording, in order, and the result of the work. */
export interface Recording<T> {
  statements: string[];
  result: T;
}

/**
 * Records the statements that the service sends for `work`. Background work of the service can only add statements, so
 * `work` runs several times and the recording with the fewest statements is returned.
 * @param prepare returns the input of `work`; runs before each recording and is not recorded
 */
export async function recordStatements<T, P = void>(
  serverUrl: string,
  work: (prepared: P) => Promise<T>,
  prepare?: () => Promise<P>,
): Promise<Recording<T>> {
  const recordings: Recording<T>[] = [];
  for (let turn = 0; turn < RECORDINGS; turn += 1) {
    const prepared = (await prepare?.()) as P;
    recordings.push(await recordOnce(serverUrl, () => work(prepared)));
  }
  return recordings.reduce((least, other) =>
    other.statements.length < least.statements.length ? other : least,
  );
}

/** Records one run from the server's general log, which is enabled only during `work`. */
async function recordOnce<T>(serverUrl: string, work: () => Promise<T>): Promise<Recording<T>> {
  const connection = await createConnection({ uri: serverUrl });
  try {
    await connection.query("SET GLOBAL log_output = 'TABLE'");
    await connection.query('TRUNCATE TABLE mysql.general_log');
    await connection.query('SET GLOBAL general_log = ON');
    const result = await work();
    await connection.query('SET GLOBAL general_log = OFF');
    const [rows] = await connection.query<RowDataPacket[]>(
      `SELECT CONVERT(argument USING utf8mb4) AS text FROM mysql.general_log
       WHERE command_type IN ('Query', 'Execute') AND thread_id <> CONNECTION_ID() ORDER BY event_time`,
    );
    const statements = rows
      .map(({ text }) => String(text))
      .filter((text) => text !== '' && !text.includes('general_log'));
    return { statements, result };
  } finally {
    await connection.end();
  }
}

/** Returns the number of statements the server has executed since it started. */
export async function countQuestions(serverUrl: string): Promise<number> {
  const connection = await createConnection({ uri: serverUrl });
  try {
    const [rows] = await connection.query<RowDataPacket[]>("SHOW GLOBAL STATUS LIKE 'Questions'");
    return Number(rows[0]?.['Value']);
  } finally {
    await connection.end();
  }
}
