import { createConnection, type RowDataPacket } from 'mysql2/promise';

/** How often what is to be recorded is done: what goes on in the background joins in some of the recordings. */
const RECORDINGS = 5;

/** The statements of one recording, in order, and what the work gave. */
export interface Recording<T> {
  statements: string[];
  result: T;
}

/**
 * The statements that the service sends for `work`, which is done several times: of these recordings the one with the
 * fewest statements, since the service also works in the background and its statements can only be too many.
 * @param prepare what `work` needs each time, not recorded
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

/** Taken from the server's own log, which is on only during `work`. */
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

/** Statements the server has answered since it started. */
export async function countQuestions(serverUrl: string): Promise<number> {
  const connection = await createConnection({ uri: serverUrl });
  try {
    const [rows] = await connection.query<RowDataPacket[]>("SHOW GLOBAL STATUS LIKE 'Questions'");
    return Number(rows[0]?.['Value']);
  } finally {
    await connection.end();
  }
}
