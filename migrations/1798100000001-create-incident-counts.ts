import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';

/** How many incidents were open when a replica last counted, for the metrics of all replicas. */
export class CreateIncidentCounts1798100000001 implements MigrationInterface {
  readonly name = 'CreateIncidentCounts1798100000001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.createTable(
      new Table({
        name: 'incident_counts',
        columns: [
          { name: 'id', type: 'integer', isPrimary: true },
          { name: 'counts', type: 'json' },
          { name: 'due_at', type: 'datetime', precision: 3 },
        ],
      }),
      true,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('incident_counts', true);
  }
}
