import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DropToolsForeignKey1797700000000 } from '../../../migrations/1797700000000-drop-tools-foreign-key.js';
import { Env } from '../../../src/config/env.js';
import { dataSourceOptions } from '../../../src/database/data-source.options.js';
import { SCHEMA } from '../../../src/schema.js';
import { dropDatabase, scratchDatabase } from '../../support/databases/scratch-database.js';

const testUrl = String(process.env['DATABASE_URL']);
const isServer = !testUrl.startsWith('sqlite:');
const NAME = `svc_cascade_${process.pid}`;
const NOW = '2026-01-31 10:20:30.123';

describe('the migration that ends the cascade from systems to tools', () => {
  let folder: string;
  let url: string;
  let database: DataSource;
  const migration = new DropToolsForeignKey1797700000000();

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-cascade-'));
    url = isServer ? await scratchDatabase(testUrl, NAME) : `sqlite:${join(folder, 'old.sqlite')}`;
    const options = dataSourceOptions(
      Env.parse('maintenance', { NODE_ENV: 'test', DATABASE_URL: url }),
      SCHEMA,
    );
    const all = options.migrations as (typeof DropToolsForeignKey1797700000000)[];
    const before = all.filter((each) => each !== DropToolsForeignKey1797700000000);
    database = await new DataSource({ ...options, migrations: before }).initialize();
    await database.runMigrations();
    for (const id of ['one', 'two']) {
      await database.query(
        `INSERT INTO systems (id, resource_id, resource_definition_id, app_id, app_version_id, type, resource_name,
         name_key, name, description, created_by, modified_by, created_at, modified_at)
         VALUES ('${id}', '${id}', '${id}', 'app', 'v1', 'MCP', '${id}', '${id}', '${id}', '', '{}', '{}', '${NOW}', '${NOW}')`,
      );
      await database.query(
        `INSERT INTO tools (id, system_id, name, description, input_schema, definition_hash, enabled, present,
         position, created_at, modified_at) VALUES ('${id}', '${id}', 'tool', '', '{}', 'h', 1, 1, 0, '${NOW}', '${NOW}')`,
      );
    }
  });
  afterAll(async () => {
    await database.destroy();
    await (isServer ? dropDatabase(testUrl, NAME) : undefined);
    await rm(folder, { recursive: true, force: true });
  });

  const inRunner = async (work: 'up' | 'down'): Promise<void> => {
    const runner = database.createQueryRunner();
    await migration[work](runner);
    await runner.release();
  };
  const tools = async (): Promise<string[]> =>
    (await database.query<{ id: string }[]>('SELECT id FROM tools ORDER BY id')).map(({ id }) => id);
  const changesLeft = async () => (await database.driver.createSchemaBuilder().log()).upQueries;

  it('keeps every tool, and can be made again where it was cut off', async () => {
    await inRunner('up');
    await inRunner('up');
    expect(await tools()).toEqual(['one', 'two']);
    expect(await changesLeft()).toEqual([]);
  });

  it('lets the release before delete a system', async () => {
    await database.query("DELETE FROM systems WHERE id = 'one'");
    expect(await tools()).toEqual(['one', 'two']);
  });

  it('is taken back with the tools that have a system, and then they go with it', async () => {
    await inRunner('down');
    expect(await tools()).toEqual(['two']);
    await database.query("DELETE FROM systems WHERE id = 'two'");
    expect(await tools()).toEqual([]);
  });
});
