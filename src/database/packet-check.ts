import type { DataSource } from 'typeorm';
import type { Log } from '../common/logging/log.js';
import type { Env } from '../config/env.js';
import { isEmbedded } from './row-locks.js';

/** Limits of the values that one statement stores as a whole. */
const STORED_AT_ONCE = [
  'JOBS_MAX_PAYLOAD_BYTES',
  'PACKAGE_MAX_BYTES',
  'PROCESS_DATA_MAX_BYTES',
  'PROCESS_MAX_XML_BYTES',
  'WORKFLOW_MAX_DATA_BYTES',
  'WORKFLOW_RECORD_BYTES',
] as const;

/** Says which limits of ours are of no use, because the server takes no statement as large as that: such work fails. */
export async function warnOfPackets(dataSource: DataSource, env: Env, log: Log): Promise<void> {
  if (isEmbedded(dataSource)) {
    return;
  }
  const [row] = (await dataSource.query('SELECT @@max_allowed_packet AS bytes')) as { bytes: unknown }[];
  const bytes = Number(row?.bytes);
  const settings = STORED_AT_ONCE.filter((name) => env.get(name) >= bytes);
  if (settings.length > 0) {
    const detail = `${settings.join(', ')} must be below max_allowed_packet of the database server (${bytes} bytes): what is larger cannot be stored.`;
    log.warn('limits do not fit into a packet of the database', { detail });
  }
}
