import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { processFolder, exitOnSignals } from '../../test/support/databases/process-resources.js';
import { built } from '../../test/support/built.js';
import {
  dropDatabase,
  scratchDatabase,
  startDatabases,
  type TestDatabase,
} from '../../test/support/databases/start-databases.js';
import { tallyLine, type Tally } from './tally.js';

/**
 * On each database concurrently: migrates an empty schema up, checks that the entities match it, reverts every migration,
 * and migrates up again. Uses the operator's commands, except that all reverts but the first run in this process.
 * Requires a built service.
 *
 *     tsx tools/scripts/check-migrations.ts
 */
exitOnSignals();
const count = readdirSync('migrations').filter((name) => /^\d+-.*(?<!\.spec)\.ts$/.test(name)).length;
const run = promisify(execFile);
const total: Tally = { passed: 0, failed: 0, skipped: 0 };

await Promise.all([checkEmbedded(), checkServers()]);
console.log(tallyLine(total));
process.exitCode = total.failed > 0 ? 1 : 0;

async function checkEmbedded(): Promise<void> {
  const folder = await processFolder(join(tmpdir(), 'svc-migrations'));
  await check('embedded', `sqlite:${join(folder, 'embedded.sqlite')}`);
  await rm(folder, { recursive: true, force: true });
}

async function checkServers(): Promise<void> {
  const { databases, missing } = await startDatabases(['mariadb', 'mysql'], { fast: true });
  await Promise.all(databases.map(checkServer));
  for (const { kind, reason } of missing) {
    total[process.env['CI'] ? 'failed' : 'skipped'] += 1;
    console.log(`${kind}: not available, ${reason}`);
  }
}

async function checkServer(server: TestDatabase): Promise<void> {
  const name = `svc_migrations_${process.pid}`;
  await check(server.kind, await scratchDatabase(server.url, name));
  await dropDatabase(server.url, name);
  await server.stop();
}

async function check(kind: string, databaseUrl: string): Promise<void> {
  try {
    await command('run', databaseUrl);
    await command('check', databaseUrl);
    await command('revert', databaseUrl);
    await revert(count - 1, databaseUrl);
    await command('run', databaseUrl);
    await command('check', databaseUrl);
    total.passed += 1;
    console.log(`${kind}: ${count} migrations up, down and up again`);
  } catch (error) {
    total.failed += 1;
    console.log(`${kind}: failed\n`, error);
  }
}

/**
 * Runs a migration command.
 * @throws Error with the output of the command
 */
async function command(verb: 'run' | 'check' | 'revert', databaseUrl: string): Promise<void> {
  const env = { ...process.env, DATABASE_URL: databaseUrl };
  await run(process.execPath, ['dist/src/migration.cli.js', verb], { env });
}

async function revert(times: number, databaseUrl: string): Promise<void> {
  const { Env } = await built<typeof import('../../src/platform/config/env.js')>('platform/config/env.js');
  const { connectDatabase } = await built<typeof import('../../src/store/connection/connect.js')>(
    'store/connection/connect.js',
  );
  const { SCHEMA } = await built<typeof import('../../src/schema.js')>('schema.js');
  const dataSource = await connectDatabase(Env.parse('maintenance', { DATABASE_URL: databaseUrl }), SCHEMA);
  try {
    for (let time = 0; time < times; time += 1) {
      await dataSource.undoLastMigration();
    }
  } finally {
    await dataSource.destroy();
  }
}
