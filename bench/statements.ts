import { createConnection, type RowDataPacket } from 'mysql2/promise';

/**
 * The statements that the service sends while `work` runs, in order, taken from the server's own log. The log is on only
 * during `work`.
 */
export async function recordStatements(
  serverUrl: string,
  database: string,
  work: () => Promise<unknown>,
): Promise<string[]> {
  const connection = await createConnection({ uri: serverUrl });
  try {
    await connection.query("SET GLOBAL log_output = 'TABLE'");
    await connection.query('TRUNCATE TABLE mysql.general_log');
    await connection.query('SET GLOBAL general_log = ON');
    await work();
    await connection.query('SET GLOBAL general_log = OFF');
    const [rows] = await connection.query<RowDataPacket[]>(
      `SELECT CONVERT(argument USING utf8mb4) AS text FROM mysql.general_log
       WHERE command_type IN ('Query', 'Execute') AND thread_id <> CONNECTION_ID() ORDER BY event_time`,
    );
    return rows
      .map(({ text }) => String(text))
      .filter((text) => !text.includes('general_log') && text !== database);
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
