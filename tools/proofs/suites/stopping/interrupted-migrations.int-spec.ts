import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource, type QueryRunner } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CreateTables } from '../../../../migrations/create-tables.js';
import { Env } from '../../../../src/platform/config/env.js';
import { dataSourceOptions } from '../../../../src/store/connection/data-source.options.js';
import { SCHEMA } from '../../../../src/schema.js';
import { dropDatabase, scratchDatabase } from '../../../../test/support/databases/start-databases.js';

const NAME = `svc_interrupted_${process.pid}`;
const testUrl = String(process.env['DATABASE_URL']);
const isEmbedded = testUrl.startsWith('sqlite:');

/** Database servers commit each DDL statement, so a process can end between any two of them. */
describe('an interrupted migration', () => {
  let folder: string;
  let dataSource: DataSource;
  let runner: QueryRunner;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-interrupted-'));
    const url = isEmbedded ? `sqlite:${join(folder, 'cut.sqlite')}` : await scratchDatabase(testUrl, NAME);
    const env = Env.parse('maintenance', { NODE_ENV: 'test', DATABASE_URL: url });
    dataSource = await new DataSource(dataSourceOptions(env, SCHEMA)).initialize();
    await dataSource.runMigrations();
    runner = dataSource.createQueryRunner();
  });
  afterAll(async () => {
    await runner.release();
    await dataSource.destroy();
    await (isEmbedded ? undefined : dropDatabase(testUrl, NAME));
    await rm(folder, { recursive: true, force: true });
  });

  const changesLeft = async () => (await dataSource.driver.createSchemaBuilder().log()).upQueries;

  it.each(SCHEMA.migrations.map((Migration) => new Migration()))(
    'changes nothing when repeated after its last statement ($name)',
    async (migration) => {
      await migration.up(runner);
      expect(await changesLeft()).toEqual([]);
    },
  );

  it.each(
    SCHEMA.migrations.map((Migration) => new Migration()).filter((each) => each instanceof CreateTables),
  )('continues with the tables that are missing, up and down ($name)', async (migration) => {
    const last = migration.tables.at(-1)?.name ?? '';
    await runner.dropTable(last);
    await migration.up(runner);
    expect(await changesLeft()).toEqual([]);

    await runner.dropTable(last);
    await migration.down(runner);
    const there = await Promise.all(migration.tables.map(({ name }) => runner.hasTable(name)));
    expect(there).not.toContain(true);
    await migration.up(runner);
    expect(await changesLeft()).toEqual([]);
  });
});
