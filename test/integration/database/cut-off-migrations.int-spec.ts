import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource, type MigrationInterface, type QueryRunner } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { AddWorkflowErrorCode1797000002000 } from '../../../migrations/1797000002000-add-workflow-error-code.js';
import { CountJobInterruptions1797000005000 } from '../../../migrations/1797000005000-count-job-interruptions.js';
import { CreateWriteProofs1797000005001 } from '../../../migrations/1797000005001-create-write-proofs.js';
import { CreateMigrationSteps1797000006000 } from '../../../migrations/1797000006000-create-migration-steps.js';
import { IndexAudit1798200000001 } from '../../../migrations/1798200000001-index-audit.js';
import { IndexIncidentLists1798300000000 } from '../../../migrations/1798300000000-index-incident-lists.js';
import { IndexInstancesByDefinition1798400000002 } from '../../../migrations/1798400000002-index-instances-by-definition.js';
import { IndexCallsByStart1798400000003 } from '../../../migrations/1798400000003-index-calls-by-start.js';
import { Env } from '../../../src/config/env.js';
import { dataSourceOptions } from '../../../src/database/data-source.options.js';
import { SCHEMA } from '../../../src/schema.js';
import { dropDatabase, scratchDatabase } from '../../support/databases/scratch-database.js';

const NAME = `svc_cut_off_${process.pid}`;
const testUrl = String(process.env['DATABASE_URL']);
const isEmbedded = testUrl.startsWith('sqlite:');

/** The servers commit each DDL statement by itself, so a start can be killed behind any of them. */
describe('a migration that was cut off', () => {
  let folder: string;
  let dataSource: DataSource;
  let runner: QueryRunner;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-cut-off-'));
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

  it.each<MigrationInterface>([
    new AddWorkflowErrorCode1797000002000(),
    new CountJobInterruptions1797000005000(),
    new CreateWriteProofs1797000005001(),
    new CreateMigrationSteps1797000006000(),
    new IndexAudit1798200000001(),
    new IndexIncidentLists1798300000000(),
    new IndexInstancesByDefinition1798400000002(),
    new IndexCallsByStart1798400000003(),
  ])('behind its last statement is made again ($name)', async (migration) => {
    await migration.up(runner);
    expect(await changesLeft()).toEqual([]);
  });

  it('between two indexes is made to its end, the others in one statement where there is a server', async () => {
    for (const index of ['type_state', 'build_state']) {
      await runner.dropIndex('process_incidents', `ix_process_incidents_${index}`);
    }
    const sent = vi.spyOn(runner, 'query');
    await new IndexIncidentLists1798300000000().up(runner);
    const made = sent.mock.calls.filter(([query]) => query.includes('ix_process_incidents'));
    expect(made).toHaveLength(isEmbedded ? 2 : 1);
    expect(await changesLeft()).toEqual([]);
  });

  it('between a column and an index is made to its end', async () => {
    await runner.dropIndex('runtime_jobs', 'ix_runtime_jobs_due');
    await new CountJobInterruptions1797000005000().up(runner);
    expect(await changesLeft()).toEqual([]);
  });
});
