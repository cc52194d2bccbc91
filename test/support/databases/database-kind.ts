import type { ServerKind } from './server-program.js';

/** Every database the service runs on: the embedded SQLite file and the servers of production. */
export type DatabaseKind = 'embedded' | ServerKind;

export const DATABASE_KINDS: readonly DatabaseKind[] = ['embedded', 'mariadb', 'mysql'];

/** What integration tests run on: beside those a Vitess with two shards, over a MySQL server. */
export type TestedDatabase = DatabaseKind | 'vitess';

export const TESTED_DATABASES: readonly TestedDatabase[] = [...DATABASE_KINDS, 'vitess'];
