import type { DataSource } from 'typeorm';
import type { Log } from '../common/logging/log.js';
import { databaseLimits } from './database.limits.js';
import { isEmbedded } from './row-locks.js';

/** Warns where the server takes no statement as large as the largest value that we store: such work fails. */
export async function warnOfPackets(dataSource: DataSource, log: Log): Promise<void> {
  if (isEmbedded(dataSource)) {
    return;
  }
  const [row] = (await dataSource.query('SELECT @@max_allowed_packet AS bytes')) as { bytes: unknown }[];
  const bytes = Number(row?.bytes);
  if (databaseLimits.largestValueBytes >= bytes) {
    const detail = `max_allowed_packet of the database server (${bytes} bytes) must be above ${databaseLimits.largestValueBytes}: what is larger cannot be stored.`;
    log.warn('a packet of the database is too small', { detail });
  }
}
