import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';

const INDEX = 'ix_runtime_jobs_family';

/** What a started instance has called, directly and through others, is counted. Instances of before are families of their own. */
export class CreateProcessFamilies1797000008000 implements MigrationInterface {
  readonly name = 'CreateProcessFamilies1797000008000';

  async up(runner: QueryRunner): Promise<void> {
    // The servers commit each DDL statement by itself: a start that was cut off begins anew here.
    await runner.createTable(
      new Table({
        name: 'process_families',
        columns: [
          { name: 'root_id', type: 'bigint', isPrimary: true },
          { name: 'instances', type: 'integer' },
        ],
      }),
      true,
    );
    await addColumn(runner, 'process_instances', 'root_id');
    await addColumn(runner, 'runtime_jobs', 'family_id');
    const jobs = await runner.getTable('runtime_jobs');
    if (jobs?.indices.some(({ name }) => name === INDEX) !== true) {
      await runner.query(`CREATE INDEX ${INDEX} ON runtime_jobs (family_id)`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropIndex('runtime_jobs', INDEX);
    await runner.query('ALTER TABLE runtime_jobs DROP COLUMN family_id');
    await runner.query('ALTER TABLE process_instances DROP COLUMN root_id');
    await runner.dropTable('process_families', true);
  }
}

async function addColumn(runner: QueryRunner, table: string, name: string): Promise<void> {
  if (!(await runner.hasColumn(table, name))) {
    await runner.query(`ALTER TABLE ${table} ADD COLUMN ${name} bigint NULL`);
  }
}
