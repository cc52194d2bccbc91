import type { DataSource } from 'typeorm';
import { StartError } from '../config/start.error.js';
import { isEmbedded } from './row-locks.js';

/** The database does not keep a rule that the correctness of the service rests on. */
export class DatabaseSessionError extends StartError {
  override readonly name = 'DatabaseSessionError';
}

/**
 * Makes sure that sessions really run at READ COMMITTED, which a proxy between us and the server could undo.
 * @throws DatabaseSessionError otherwise
 */
export async function checkSession(dataSource: DataSource): Promise<void> {
  if (isEmbedded(dataSource)) {
    return;
  }
  // MariaDB before 11.1 calls the variable tx_isolation.
  const rows = (await dataSource.query(
    "SHOW SESSION VARIABLES WHERE Variable_name IN ('transaction_isolation', 'tx_isolation')",
  )) as { Value: string }[];
  if (!rows.some(({ Value }) => Value === 'READ-COMMITTED')) {
    throw new DatabaseSessionError('Database sessions must run at isolation level READ COMMITTED.');
  }
}
