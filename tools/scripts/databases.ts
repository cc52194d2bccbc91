import { startDatabases } from '../../test/support/databases/start-databases.js';
import { exitOnSignals } from '../../test/support/databases/process-resources.js';

/**
 * Starts MariaDB and MySQL for manual use and keeps them running until Ctrl-C.
 *
 *     tsx tools/scripts/databases.ts
 */
exitOnSignals();
const { databases, missing } = await startDatabases(['mariadb', 'mysql']);
for (const { kind, version, url } of databases) {
  console.log(`${kind.padEnd(8)} ${url}  (${version}; create your own database on it)`);
}
for (const { kind, reason } of missing) {
  console.log(`${kind.padEnd(8)} not available: ${reason}`);
}
console.log('Ctrl-C stops them and removes their data.');
setInterval(() => undefined, 60_000);
