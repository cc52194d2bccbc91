import { PrivateServer } from '../../support/databases/private-server.js';
import { serverProgram } from '../../support/databases/server-program.js';
import { rows } from './rows.js';

const SIZE_MB = 48;
const FILLER = 'filler';
/** The server's numbers for a table, or the table space, that is full. */
const FULL_CODES = ['ER_RECORD_FILE_FULL', 'ER_DISK_FULL'];
/** Bytes of a row: large ones first, then such as fit into the room that is left. */
const ROWS = [1024 * 1024, 64 * 1024, 7 * 1024, 1024, 100];

/**
 * A MySQL server that keeps every table in one file which must not grow beyond a size: what it says then it says of a full disk.
 * MariaDB 10.11 has its undo log in the same file, so that nothing can be removed either once it is full.
 */
export function smallServer(): Promise<PrivateServer> {
  return serverProgram('mysql').then((program) =>
    PrivateServer.start(program, {
      settings: [
        '--innodb-file-per-table=OFF',
        `--innodb-data-file-path=ibdata1:12M:autoextend:max:${SIZE_MB}M`,
      ],
    }),
  );
}

/** Fills the one file, so that no table of the database finds room for more. */
export async function fill(databaseUrl: string): Promise<void> {
  await rows(databaseUrl, `CREATE TABLE ${FILLER} (id INT AUTO_INCREMENT PRIMARY KEY, bytes LONGBLOB)`);
  for (const size of ROWS) {
    while (await insert(databaseUrl, size)) {
      // Until it is full.
    }
  }
}

export async function free(databaseUrl: string): Promise<void> {
  await rows(databaseUrl, `DROP TABLE ${FILLER}`);
}

async function insert(databaseUrl: string, size: number): Promise<boolean> {
  try {
    await rows(databaseUrl, `INSERT INTO ${FILLER} (bytes) VALUES (REPEAT('x', ${size}))`);
    return true;
  } catch (error) {
    if (!FULL_CODES.includes(String((error as { code?: unknown }).code))) {
      throw error;
    }
    return false;
  }
}
