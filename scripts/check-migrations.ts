import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { processFolder } from '../test/support/databases/process-folder.js';
import { dropDatabase, scratchDatabase } from '../test/support/databases/scratch-database.js';
import { startDatabases } from '../test/support/databases/start-databases.js';
import { endWithSignals } from '../test/support/end-with-signals.js';
import { tallyLine, type Tally } from '../test/support/tally.js';

/**
 * On each database: migrates an empty schema up, checks that the entities match it, takes every migration back, and
 * goes up again. Uses the commands an operator uses; the service must have been built.
 *
 *     tsx scripts/check-migrations.ts
 */
endWithSignals();
const count = readdirSync('migrations').filter((name) => /^\d+-.*(?<!\.spec)\.ts$/.test(name)).length;
const steps = [
  'migration:run',
  'migration:check',
  ...Array.from({ length: count }, () => 'migration:revert'),
  'migration:run',
  'migration:check',
];
const total: Tally = { passed: 0, failed: 0, skipped: 0 };

const folder = await processFolder(join(tmpdir(), 'svc-migrations'));
check('embedded', `sqlite:${join(folder, 'embedded.sqlite')}`);
await rm(folder, { recursive: true, force: true });
const { databases, missing } = await startDatabases(['mariadb', 'mysql'], { fast: true });
for (const server of databases) {
  const name = `svc_migrations_${process.pid}`;
  check(server.kind, await scratchDatabase(server.url, name));
  await dropDatabase(server.url, name);
  await server.stop();
}
for (const { kind, reason } of missing) {
  total[process.env['CI'] ? 'failed' : 'skipped'] += 1;
  console.log(`${kind}: not available, ${reason}`);
}
console.log(tallyLine(total));
process.exitCode = total.failed > 0 ? 1 : 0;

function check(kind: string, databaseUrl: string): void {
  const env = { ...process.env, DATABASE_URL: databaseUrl };
  const failed = steps.find((step) => {
    const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', step], { env, encoding: 'utf8' });
    if (status !== 0) {
      console.log(`${stdout}${stderr}`.trim());
    }
    return status !== 0;
  });
  total[failed === undefined ? 'passed' : 'failed'] += 1;
  console.log(
    `${kind}: ${failed === undefined ? `${steps.length} steps up, down and up again` : `${failed} failed`}`,
  );
}
