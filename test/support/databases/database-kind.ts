import type { ServerKind } from './server-program.js';

/** Every database the service runs on: the embedded SQLite file and the servers of production. */
export type DatabaseKind = 'embedded' | ServerKind;

export const DATABASE_KINDS: readonly DatabaseKind[] = ['embedded', 'mariadb', 'mysql'];
