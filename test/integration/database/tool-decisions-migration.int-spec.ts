import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CreateToolDecisions1797000000000 } from '../../../migrations/1797000000000-create-tool-decisions.js';
import { Env } from '../../../src/config/env.js';
import { dataSourceOptions } from '../../../src/database/data-source.options.js';
import { SCHEMA } from '../../../src/schema.js';
import { dropDatabase, scratchDatabase } from '../../support/databases/scratch-database.js';

const NOW = '2026-01-31 10:20:30.123';
const USER = '{"firstName":"Jane"}';
const NAME = `svc_upgrade_${process.pid}`;

const INSERT_SYSTEM = `INSERT INTO systems (id, resource_id, resource_definition_id, app_id, app_version_id, type, resource_name,
  name_key, name, description, tools_synchronised_at, created_by, modified_by, created_at, modified_at)
  VALUES (?, ?, ?, 'app', ?, 'MCP', ?, ?, 'Stock', '', ?, '${USER}', '${USER}', '${NOW}', '${NOW}')`;
const INSERT_TOOL = `INSERT INTO tools (id, system_id, name, description, input_schema, definition_hash, enabled, present,
  position, created_at, modified_at) VALUES (?, ?, ?, '', '{}', ?, ?, ?, 0, '${NOW}', '${NOW}')`;

describe('the migration that begins to keep decisions about tools', () => {
  const serverUrl = process.env['DATABASE_URL'] ?? '';
  const isServer = !serverUrl.startsWith('sqlite:');
  let folder: string;
  let url: string;
  let database: DataSource;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-upgrade-'));
    url = isServer ? await scratchDatabase(serverUrl, NAME) : `sqlite:${join(folder, 'old.sqlite')}`;
  });
  afterAll(async () => {
    await database.destroy();
    await rm(folder, { recursive: true, force: true });
    if (isServer) {
      await dropDatabase(serverUrl, NAME);
    }
  });

  const open = async (isNew: boolean) => {
    const options = dataSourceOptions(
      Env.parse('maintenance', { NODE_ENV: 'test', DATABASE_URL: url }),
      SCHEMA,
    );
    const all = options.migrations as (typeof CreateToolDecisions1797000000000)[];
    const end = all.indexOf(CreateToolDecisions1797000000000) + (isNew ? 1 : 0);
    database = new DataSource({ ...options, migrations: all.slice(0, end) });
    await database.initialize();
    await database.runMigrations();
  };
  const run = (sql: string, parameters: unknown[] = []): Promise<Record<string, unknown>[]> =>
    database.query(sql, parameters);
  const addSystem = (definition: string, version: string, synchronisedAt: string | null) => {
    const id = `${definition}-${version}`;
    return run(INSERT_SYSTEM, [id, id, definition, version, definition, definition, synchronisedAt]);
  };
  const addTool = (system: string, name: string, hash: string, enabled: boolean, present = true) =>
    run(INSERT_TOOL, [`${system}-${name}`, system, name, hash, enabled ? 1 : 0, present ? 1 : 0]);
  const toolsAsTheyWere = () =>
    run(
      'SELECT id, system_id, name, definition_hash, enabled, present, position, created_at FROM tools ORDER BY id',
    );

  it('fills them from all tools, off where any is off, and leaves the tools as they are', async () => {
    await open(false);
    for (const definition of ['stock', 'other', 'untested']) {
      await run('INSERT INTO resource_definitions (id, app_id, name_key, created_at) VALUES (?, ?, ?, ?)', [
        definition,
        'app',
        definition,
        NOW,
      ]);
    }
    await addSystem('stock', 'v1', NOW);
    await addSystem('stock', 'v2', '2026-02-28 10:20:30.123');
    await addSystem('stock', 'v3', null);
    await addSystem('other', 'v1', NOW);
    await addSystem('untested', 'v1', null);
    await addTool('stock-v1', 'same', 'a', true);
    await addTool('stock-v2', 'same', 'a', true);
    await addTool('stock-v1', 'off-once', 'a', false, false);
    await addTool('stock-v2', 'off-once', 'a', true);
    await addTool('stock-v1', 'changed', 'a', true);
    await addTool('stock-v2', 'changed', 'b', false);
    await addTool('other-v1', 'off-once', 'a', true);
    // Names of tools differ by case.
    await addTool('stock-v1', 'Same', 'a', false);
    const before = await toolsAsTheyWere();
    await database.destroy();

    await open(true);

    const decided = await run(
      'SELECT resource_definition_id, name, definition_hash, enabled, decided_by, decided_at FROM tool_decisions',
    );
    const rows = decided.map(({ enabled, ...row }) => [...Object.values(row), Number(enabled)].join(' '));
    expect(rows.toSorted()).toEqual(
      [
        'other off-once a   1',
        'stock Same a   0',
        'stock changed a   1',
        'stock changed b   0',
        'stock off-once a   0',
        'stock same a   1',
      ].toSorted(),
    );
    expect(await toolsAsTheyWere()).toEqual(before);
    const unknown = await run('SELECT id FROM tools WHERE decided_by IS NOT NULL OR decided_at IS NOT NULL');
    expect(unknown).toEqual([]);
    const definitions = await run(
      'SELECT id FROM resource_definitions WHERE tools_synchronised_at IS NOT NULL ORDER BY id',
    );
    expect(definitions.map(({ id }) => id)).toEqual(['other', 'stock']);
  });

  it('can be taken back and made again', async () => {
    const before = await toolsAsTheyWere();
    await database.undoLastMigration();
    await expect(run('SELECT * FROM tool_decisions')).rejects.toThrow();
    await database.runMigrations();
    expect(await run('SELECT name FROM tool_decisions')).toHaveLength(6);
    expect(await toolsAsTheyWere()).toEqual(before);
  });
});
