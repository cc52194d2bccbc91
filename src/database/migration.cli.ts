import type { DataSource } from 'typeorm';
import { runCli } from '../config/cli.js';
import { Env } from '../config/env.js';
import { connectDatabase } from './connect.js';
import { migrate } from './migrate.js';

const USAGE = 'usage: migration.cli.js run | revert | check';

await runCli(async ([verb], print) => {
  const env = Env.fromProcess('maintenance');
  const dataSource = await connectDatabase(env);
  try {
    switch (verb) {
      case 'run':
        return await run(dataSource, env, print);
      case 'revert':
        await dataSource.undoLastMigration();
        return 0;
      case 'check':
        return await check(dataSource, print);
      default:
        print(USAGE);
        return 2;
    }
  } finally {
    await dataSource.destroy();
  }
});

async function run(dataSource: DataSource, env: Env, print: (line: string) => void): Promise<number> {
  const names = await migrate(dataSource, env.get('MIGRATIONS_LOCK_TIMEOUT_SECONDS'));
  print(names.length === 0 ? 'Nothing to migrate.' : `Migrated: ${names.join(', ')}`);
  return 0;
}

/** Status 1 when a migration is pending or the entities differ from the tables. */
async function check(dataSource: DataSource, print: (line: string) => void): Promise<number> {
  if (await dataSource.showMigrations()) {
    print('There are pending migrations.');
    return 1;
  }
  const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
  upQueries.forEach(({ query }) => print(`Missing: ${query}`));
  return upQueries.length === 0 ? 0 : 1;
}
