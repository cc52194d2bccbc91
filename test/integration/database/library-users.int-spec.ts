import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Env } from '../../../src/config/env.js';
import { dataSourceOptions } from '../../../src/database/data-source.options.js';
import { SCHEMA } from '../../../src/schema.js';
import { dropDatabase, scratchDatabase } from '../../support/databases/scratch-database.js';

const MIGRATION = 'CreateLibraryUsers1797000001000';
const NAME = `svc_library_users_${process.pid}`;
const testUrl = String(process.env['DATABASE_URL']);
const isEmbedded = testUrl.startsWith('sqlite:');

describe('the migration that writes who uses libraries', () => {
  let folder: string;
  let dataSource: DataSource;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-library-users-'));
    const url = isEmbedded ? `sqlite:${join(folder, 'old.sqlite')}` : await scratchDatabase(testUrl, NAME);
    const env = Env.parse('maintenance', { NODE_ENV: 'test', DATABASE_URL: url });
    dataSource = await new DataSource(dataSourceOptions(env, SCHEMA)).initialize();
  });
  afterAll(async () => {
    await dataSource.destroy();
    await (isEmbedded ? undefined : dropDatabase(testUrl, NAME));
    await rm(folder, { recursive: true, force: true });
  });

  const insert = async (table: string, row: Record<string, unknown>): Promise<void> => {
    const names = Object.keys(row);
    const marks = names.map(() => '?').join(', ');
    await dataSource.query(
      `INSERT INTO ${table} (${names.join(', ')}) VALUES (${marks})`,
      Object.values(row),
    );
  };
  const oldBuild = (buildId: string, appId: string): Promise<void> =>
    insert('builds', {
      build_id: buildId,
      app_id: appId,
      app_version_id: 'v1',
      status: 'COMMITTED',
      checksum: 'c',
      settings: '{"text":"{}"}',
      created_at: '2026-01-01 00:00:00.000',
      created_by: '{}',
    });
  const usesBuild = (buildId: string, libraryAppId: string, libraryBuildId: string, level: number) =>
    insert('build_libraries', {
      build_id: buildId,
      library_app_id: libraryAppId,
      library_build_id: libraryBuildId,
      level,
    });
  const users = async (): Promise<string[]> => {
    const rows = (await dataSource.query('SELECT library_app_id, user_app_id FROM library_users')) as {
      library_app_id: string;
      user_app_id: string;
    }[];
    return rows.map((row) => `${row.library_app_id} ${row.user_app_id}`).toSorted();
  };

  it('takes over what builds and drafts of the release before name, not what that brings along, and can be taken back', async () => {
    const names = (await dataSource.runMigrations()).map(({ name }) => name);
    const later = names.length - names.indexOf(MIGRATION);
    for (let undone = 0; undone < later; undone += 1) {
      await dataSource.undoLastMigration();
    }
    await oldBuild('library-1', 'library');
    await oldBuild('library-2', 'library');
    await oldBuild('deep-1', 'deep');
    await oldBuild('shop-1', 'shop');
    await oldBuild('shop-2', 'shop');
    await usesBuild('library-2', 'deep', 'deep-1', 1);
    await usesBuild('shop-1', 'library', 'library-1', 1);
    await usesBuild('shop-2', 'library', 'library-2', 1);
    await usesBuild('shop-2', 'deep', 'deep-1', 2);
    for (const appId of ['draft', 'shop', 'Shop']) {
      await insert('version_dependencies', {
        app_id: appId,
        app_version_id: 'v2',
        dependency_type: 'LIB',
        dependency_app_id: 'library',
        dependency_app_version_id: 'v1',
      });
    }

    const expected = ['deep library', 'library Shop', 'library draft', 'library shop'];
    await dataSource.runMigrations();
    expect(await users()).toEqual(expected);
    const kept = (await dataSource.query('SELECT usable_by FROM builds')) as { usable_by: unknown }[];
    expect(kept.map(({ usable_by }) => usable_by)).toEqual([null, null, null, null, null]);

    for (let undone = 0; undone < later; undone += 1) {
      await dataSource.undoLastMigration();
    }
    await dataSource.runMigrations();
    expect(await users()).toEqual(expected);
    expect((await dataSource.driver.createSchemaBuilder().log()).upQueries).toEqual([]);
  });
});
