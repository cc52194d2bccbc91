import { databaseLimits } from './store/database.limits.js';
import type { DataSource } from 'typeorm';
import { runCli } from './platform/config/cli.js';
import { withDatabase } from './store/maintenance.js';
import { SCHEMA } from './schema.js';
import { migrate } from './store/migrate.js';
import { withPatience } from './store/connection/server-pool.js';

const USAGE = 'usage: migration.cli.js run | revert | check [--embedded]';
const USAGE_ERROR = 2;

type Print = (line: string) => void;

const verbs = new Map([
  ['run', run],
  ['revert', revert],
  ['check', check],
]);

await runCli(async ([name = '', ...args], print) => {
  const verb = verbs.get(name);
  if (verb === undefined) {
    print(USAGE);
    return USAGE_ERROR;
  }
  return withDatabase(args, print, {
    schema: SCHEMA,
    work: (dataSource) => verb(dataSource, print),
    mayCreate: name === 'run',
  });
});

async function run(dataSource: DataSource, print: Print): Promise<number> {
  const names = await migrate(dataSource, databaseLimits.migrationLockSeconds);
  print(names.length === 0 ? 'Nothing to migrate.' : `Migrated: ${names.join(', ')}`);
  return 0;
}

async function revert(dataSource: DataSource): Promise<number> {
  await withPatience(dataSource, () => dataSource.undoLastMigration());
  return 0;
}

/** Returns status 1 when a migration is pending or the entities differ from the tables. */
async function check(dataSource: DataSource, print: Print): Promise<number> {
  if (await dataSource.showMigrations()) {
    print('There are pending migrations.');
    return 1;
  }
  const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
  upQueries.forEach(({ query }) => print(`Missing: ${query}`));
  return upQueries.length === 0 ? 0 : 1;
}
