import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';

/** First starts by the clock of an activation, on their way to the shards of their jobs. */
export class CreateTimerOutbox1797900000001 implements MigrationInterface {
  readonly name = 'CreateTimerOutbox1797900000001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.createTable(
      new Table({
        name: 'timer_outbox',
        columns: [
          { name: 'id', type: 'bigint', isPrimary: true },
          { name: 'work', type: 'json' },
        ],
      }),
      true,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('timer_outbox', true);
  }
}
