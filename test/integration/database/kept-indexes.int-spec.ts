import { readFileSync } from 'node:fs';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { IndexInstanceLists1797600000000 } from '../../../migrations/1797600000000-index-instance-lists.js';
import { Env } from '../../../src/config/env.js';
import { dataSourceOptions } from '../../../src/database/data-source.options.js';
import { migrate } from '../../../src/database/migrate.js';
import { SCHEMA } from '../../../src/schema.js';
import { dropDatabase, scratchDatabase } from '../../support/databases/scratch-database.js';

const testUrl = String(process.env['DATABASE_URL']);
const NAME = `svc_kept_${process.pid}`;
/** What an operator is told to run before the upgrade, and when the release before is gone. */
const [keep = '', letGo = ''] = [
  ...readFileSync('docs/operations.md', 'utf8').matchAll(/^ALTER TABLE process_instances .*;$/gm),
].map(([statement]) => statement);

describe.skipIf(testUrl.startsWith('sqlite:'))('indexes of the release before', () => {
  let dataSource: DataSource;
  beforeAll(async () => {
    const url = await scratchDatabase(testUrl, NAME);
    const env = Env.parse('maintenance', { NODE_ENV: 'test', DATABASE_URL: url });
    dataSource = await new DataSource(dataSourceOptions(env, SCHEMA)).initialize();
  });
  afterAll(async () => {
    await dataSource.destroy();
    await dropDatabase(testUrl, NAME);
  });

  const indexes = async (): Promise<Map<string, string>> => {
    const rows = (await dataSource.query(
      `SELECT index_name AS name, GROUP_CONCAT(column_name ORDER BY seq_in_index) AS columns_of FROM information_schema.statistics
       WHERE table_schema = '${NAME}' AND table_name = 'process_instances' GROUP BY index_name`,
    )) as { name: string; columns_of: string }[];
    return new Map(rows.map(({ name, columns_of }) => [name, columns_of]));
  };

  it('outlast the migration that drops them under the names that operators give them, and go when they say', async () => {
    await migrate(dataSource, 60);
    const now = await indexes();
    const migration = new IndexInstanceLists1797600000000();
    const runner = dataSource.createQueryRunner();
    try {
      await migration.down(runner);
      await dataSource.query(keep);
      await migration.up(runner);
    } finally {
      await runner.release();
    }
    const kept = { kept_app: 'app_id,uuid', kept_name: 'process_name,uuid', kept_starter: 'starter,uuid' };
    expect(await indexes()).toEqual(new Map([...now, ...Object.entries(kept)]));

    await dataSource.query(letGo);
    expect(await indexes()).toEqual(now);
  });
});
